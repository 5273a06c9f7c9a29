"""Bundles, checkpoints and signatures from the command line, and a forger's way through each."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from pagestore import Checkpoint, SpaceId
from tests.apps.test_commands import CHAT, as_json, chat_file, tiermem
from tiermem.errors import BadSignature, InvalidInput, SigningUnavailable
from tiermem.signing import sign, verify_signature

POINT = Checkpoint(space=SpaceId("ann"), size=3, root="ab" * 32)
PEM = serialization.Encoding.PEM


def keys(folder: Path, name: str) -> tuple[Path, Path]:
    """A fresh key pair in two files."""
    key = Ed25519PrivateKey.generate()
    plain = serialization.NoEncryption()
    private, public = folder / f"{name}.pem", folder / f"{name}.pub"
    private.write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, plain))
    public.write_bytes(key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    return private, public


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proofs")
    tiermem(folder / "memory", "ingest", str(chat_file(folder)))
    as_json(folder / "memory", "ask", "What is the name of Ann's dog?")
    return folder / "memory"


def checked(*arguments: str, code: int = 0) -> str:
    """`verify-bundle`, which needs no store."""
    from typer.testing import CliRunner

    from tiermem.apps.cli.app import app

    result = CliRunner().invoke(app, ["verify-bundle", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_an_answer_is_bundled_and_checked_far_from_its_store(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "bundle.json"
    made = as_json(store, "audit", "--bundle", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert "Pixel" in made["answer"]["text"]
    told = " ".join(checked(str(file)).split())
    assert "proved" in told
    assert "her name is Pixel" in told
    assert "The bundle holds." in told
    assert json.loads(checked(str(file), "--json"))["ok"] is True


def test_only_what_is_cited_is_disclosed_unless_whole_pages_are_wanted(store: Path, tmp_path: Path) -> None:
    for options, holds in (((), False), (("--whole-pages",), True)):
        file = tmp_path / "bundle.json"
        tiermem(store, "audit", "--bundle", str(file), *options)
        turns = [
            turn.get("line", "") for page in json.loads(file.read_text())["pages"] for turn in page["turns"]
        ]
        assert any("How was your weekend" in line for line in turns) is holds
        assert any("her name is Pixel" in line for line in turns)


def test_a_forged_bundle_ends_with_three(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "bundle.json"
    tiermem(store, "audit", "--bundle", str(file))
    file.write_bytes(file.read_bytes().replace(b"Pixel", b"Poxel"))
    told = checked(str(file), code=3)
    assert "FAILED" in told
    assert "does not hold" in told


def test_a_bundle_is_held_against_a_signed_checkpoint_kept_elsewhere(store: Path, tmp_path: Path) -> None:
    private, public = keys(tmp_path, "ours")
    _, other = keys(tmp_path, "theirs")
    kept, file = tmp_path / "kept.json", tmp_path / "bundle.json"
    tiermem(store, "checkpoint", "--sign", str(private), "--out", str(kept))
    tiermem(store, "ask", "Where did Bob move to?")
    tiermem(store, "audit", "--bundle", str(file), "--checkpoint", str(kept), "--sign", str(private))
    told = " ".join(checked(str(file), "--checkpoint", str(kept), "--key", str(public)).split())
    assert "no record or sealed page before it was changed" in told
    assert "is signed with the key" in told
    assert "signed by another key" in " ".join(checked(str(file), "--key", str(other), code=3).split())
    assert as_json(store, "verify", "--checkpoint", str(kept), "--key", str(public))["ok"] is True
    refused = tiermem(store, "verify", "--checkpoint", str(kept), "--key", str(other), code=1)
    assert "signed by another key" in refused.stderr


def test_a_rewritten_store_and_its_bundle_fail_against_the_signed_checkpoint(tmp_path: Path) -> None:
    private, public = keys(tmp_path, "ours")
    path, kept, file = chat_file(tmp_path), tmp_path / "kept.json", tmp_path / "bundle.json"
    tiermem(tmp_path / "true", "ingest", str(path))
    tiermem(tmp_path / "true", "checkpoint", "--sign", str(private), "--out", str(kept))
    path.write_text(CHAT.replace("340", "341"), encoding="utf-8")
    tiermem(tmp_path / "false", "ingest", str(path))
    tiermem(tmp_path / "false", "ask", "What is the name of Ann's dog?")
    tiermem(tmp_path / "false", "audit", "--bundle", str(file))
    checked(str(file))
    assert "not the one kept elsewhere" in " ".join(
        checked(str(file), "--checkpoint", str(kept), code=3).split()
    )
    report = as_json(tmp_path / "false", "verify", "--checkpoint", str(kept), "--key", str(public), code=3)
    assert report["ok"] is False
    refused = tiermem(tmp_path / "false", "audit", "--bundle", str(file), "--checkpoint", str(kept), code=1)
    assert "does not begin with" in refused.stderr


def test_spaces_of_a_checkpoint_that_are_gone_are_damage(tmp_path: Path) -> None:
    path, kept, store = chat_file(tmp_path), str(tmp_path / "kept.json"), tmp_path / "memory"
    for space in ("ann", "bob"):
        tiermem(store, "ingest", str(path), "--space", space)
    tiermem(store, "checkpoint", "--out", kept)
    shutil.rmtree(store / "spaces" / "bob")
    report = as_json(store, "verify", "--checkpoint", kept, code=3)
    assert (report["ok"], report["missing"]) == (False, ["bob"])
    told = " ".join(tiermem(store, "verify", "--checkpoint", kept, code=3).stdout.split())
    assert "the checkpoint covers space 'bob', which is not here" in told
    assert as_json(store, "verify", "--checkpoint", kept, "--space", "ann")["ok"] is True
    tiermem(tmp_path / "other", "ingest", str(path), "--space", "cid")
    assert as_json(tmp_path / "other", "verify", "--checkpoint", kept, code=3)["missing"] == ["ann", "bob"]
    as_json(tmp_path / "other", "ask", "What is the name of Ann's dog?")
    bundle = ("audit", "--bundle", str(tmp_path / "bundle.json"))
    for command in (("verify", "--space", "cid"), bundle):
        uncovered = tiermem(tmp_path / "other", *command, "--checkpoint", kept, code=1)
        assert "holds no checkpoint of space 'cid'" in uncovered.stderr


def test_checkpoints_can_be_taken_while_another_process_writes(store: Path) -> None:
    import tiermem as library

    with library.open(store, engine="local", create=False):
        (made,) = as_json(store, "checkpoint")["checkpoints"]
    assert made["size"] > 0
    assert made["root"][:12] in tiermem(store, "checkpoint").stdout


def test_a_signature_is_of_one_checkpoint_and_one_key(tmp_path: Path) -> None:
    private, public = (path.read_bytes() for path in keys(tmp_path, "ours"))
    signature = sign(POINT, private)
    verify_signature(POINT, signature, public)
    for changes in ({"space": SpaceId("bob")}, {"size": 4}, {"root": "ac" * 32}):
        with pytest.raises(BadSignature, match="not one of this checkpoint"):
            verify_signature(replace(POINT, **changes), signature, public)
    with pytest.raises(BadSignature, match="no signature"):
        verify_signature(POINT, None, public)


def test_what_is_signed_of_a_checkpoint_is_what_it_always_was(tmp_path: Path) -> None:
    private = keys(tmp_path, "ours")[0].read_bytes()
    key = serialization.load_pem_private_key(private, password=None)
    assert isinstance(key, Ed25519PrivateKey)
    tree = f'"space":"ann","size":3,"root":"{"ab" * 32}"'
    message = f"tiermem-checkpoint-3\n{{{tree}}}"
    assert sign(POINT, private).value == key.sign(message.encode()).hex()


def test_keys_that_cannot_be_used_say_why(tmp_path: Path) -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    pem = other.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with pytest.raises(InvalidInput, match="Ed25519"):
        sign(POINT, pem)
    with pytest.raises(InvalidInput, match="openssl genpkey"):
        sign(POINT, b"no key")
    private, _ = keys(tmp_path, "ours")
    signature = sign(POINT, private.read_bytes())
    with pytest.raises(InvalidInput, match="no public key"):
        verify_signature(POINT, signature, b"no key")


def test_keys_in_the_form_of_openssh_work_too(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    verify_signature(POINT, sign(POINT, private), public)


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(SigningUnavailable, match=r"pip install 'cryptography"):
        sign(POINT, b"any")


def test_a_key_file_that_is_not_there_is_an_error_in_one_line(store: Path, tmp_path: Path) -> None:
    assert "cannot read" in tiermem(store, "checkpoint", "--sign", str(tmp_path / "absent"), code=1).stderr


def test_a_key_without_checkpoints_to_check_is_an_error(store: Path, tmp_path: Path) -> None:
    _, public = keys(tmp_path, "ours")
    assert "name their file" in tiermem(store, "verify", "--key", str(public), code=1).stderr
