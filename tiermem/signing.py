"""Ed25519 signatures of checkpoints: who vouches for what a log held. Needs `tiermem[sign]`.

What is signed is `tiermem-checkpoint-3`, a line break, and the JSON of space, size and root. Keys are PEM
files, as `openssl genpkey -algorithm ed25519 -out key.pem` makes them, and their public halves, as
`openssl pkey -in key.pem -pubout -out key.pub` does; OpenSSH's form is read as well.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pagestore import Checkpoint
from pagestore.bundle import Signature
from tiermem.errors import BadSignature, InvalidInput, SigningUnavailable, install_command

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def sign(checkpoint: Checkpoint, private_key: bytes) -> Signature:
    """Sign with a private key in PEM; raises `InvalidInput` for any other, `SigningUnavailable`."""
    key = _private(private_key)
    return Signature(
        key=key.public_key().public_bytes_raw().hex(), value=key.sign(_message(checkpoint)).hex()
    )


def verify_signature(checkpoint: Checkpoint, signature: Signature | None, public_key: bytes) -> None:
    """Return when the holder of `public_key` signed this very checkpoint; else raise `BadSignature`."""
    if signature is None:
        raise BadSignature(f"the checkpoint of space {checkpoint.space!r} carries no signature")
    key = _public(public_key)
    if signature.key != key.public_bytes_raw().hex():
        raise BadSignature(
            f"the checkpoint of space {checkpoint.space!r} is signed by another key, {signature.key!r:.24}"
        )
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(bytes.fromhex(signature.value), _message(checkpoint))
    except (InvalidSignature, ValueError) as error:
        raise BadSignature(
            f"the signature is not one of this checkpoint ({checkpoint.size} records of {checkpoint.space!r})"
        ) from error


def _message(checkpoint: Checkpoint) -> bytes:
    signed = {"space": checkpoint.space, "size": checkpoint.size, "root": checkpoint.root}
    return f"tiermem-checkpoint-3\n{json.dumps(signed, separators=(',', ':'))}".encode()


def _private(pem: bytes) -> Ed25519PrivateKey:
    with_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    ssh = b"OPENSSH" in pem[:80]
    load = serialization.load_ssh_private_key if ssh else serialization.load_pem_private_key
    try:
        key = load(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InvalidInput(
            f"this is no private key without a password ({error}); make one with "
            "`openssl genpkey -algorithm ed25519 -out key.pem`"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidInput("checkpoints are signed with Ed25519 keys; this key is of another kind")
    return key


def _public(pem: bytes) -> Ed25519PublicKey:
    with_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    ssh = pem.startswith(b"ssh-")
    load = serialization.load_ssh_public_key if ssh else serialization.load_pem_public_key
    try:
        key = load(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InvalidInput(f"this is no public key in PEM or OpenSSH form: {error}") from error
    if not isinstance(key, Ed25519PublicKey):
        raise InvalidInput("checkpoints are signed with Ed25519 keys; this key is of another kind")
    return key


def with_cryptography() -> None:
    """Raise `SigningUnavailable`, which says what to install, where `cryptography` is not."""
    try:
        import cryptography  # noqa: F401  (only whether it is there)
    except ImportError as error:
        raise SigningUnavailable(
            f"signatures need the package `cryptography`: {install_command('sign')}"
        ) from error
