"""Deliberate breaches of what the build promises, in a copy of the packages: each of them is refused."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_IGNORED = shutil.ignore_patterns("__pycache__", "*.onnx")
PACKAGES = ("pagestore", "tiermem", "eval", "tests/contracts")

IMPORTS = {
    "pagestore/breach.py": "import rapidfuzz",
    "pagestore/lower.py": "import tiermem.errors",
    "eval/breach.py": "from tiermem.ledger import Ledger",
    "tiermem/apps/breach.py": "from tiermem.runtime.opening import build",
    "tiermem/reading/breach.py": "from tiermem.index import QdrantIndex",
    "tiermem/writing/breach.py": "from tiermem.index.qdrant import QdrantIndex",
    "tiermem/reasoning/breach.py": "from tiermem.llm import OpenAIModel",
    "tiermem/ledger/breach.py": "import qdrant_client",
}
"""Files, each with a line that a contract refuses."""

WRITES = {
    "ledger": ("append", "seal", "write", "erase", "checkpoint", "close"),
    "index": ("put", "remove", "set_mark", "drop", "flush", "close"),
}
READS = {"ledger": ("page", "tier1", "changes"), "index": ("search", "turns", "mark")}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages and their contracts, in a directory of their own."""
    copied = tmp_path_factory.mktemp("packages")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, copied / package, ignore=_IGNORED)
    for name in ("tests/__init__.py", "pyproject.toml"):
        shutil.copy(ROOT / name, copied / name)
    return copied


@pytest.fixture(scope="module")
def refused(copy: Path) -> str:
    """What import-linter says of all the breaches at once, on one line."""
    for name, line in IMPORTS.items():
        (copy / name).write_text(f"{line}\n")
    lint = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(lint, cwd=copy, capture_output=True, text=True, check=False)
    for name in IMPORTS:
        (copy / name).unlink()
    assert done.returncode == 1, done.stderr
    return " ".join(done.stdout.split())


@pytest.mark.parametrize("name", IMPORTS)
def test_an_import_that_breaks_a_contract_is_refused(refused: str, name: str) -> None:
    module = name.removesuffix(".py").replace("/", ".")
    imported = IMPORTS[name].split()[1]
    assert f"{module} -> {imported}" in refused


def test_reading_that_writes_is_refused_and_a_misspelt_keyword_too(copy: Path) -> None:
    lines = ["from tiermem.index.interface import Searches"]
    lines += ["from tiermem.reading.interface import ReadsLedger"]
    lines += ["from tiermem.api.blocking import Memory"]
    lines += ["def breach(ledger: ReadsLedger, index: Searches, memory: Memory) -> None:"]
    right = [f"    {part}.{name}" for part, names in READS.items() for name in names]
    right += ["    Memory.open('.', distil='inline')", "    memory.search('boat', session='harbour')"]
    wrong = [f"    {part}.{name}" for part, names in WRITES.items() for name in names]
    wrong += ["    Memory.open('.', distill='inline')", "    Memory.open('.', distil='sometimes')"]
    wrong += ["    memory.search('boat', sesion='harbour')", "    memory.add('A boat.', speeker='Ann')"]
    (copy / "breach.py").write_text("\n".join([*lines, *right, *wrong, ""]))
    checked = [
        "breach.py",
        "tiermem/index/interface.py",
        "tiermem/reading/interface.py",
        "tiermem/api/blocking.py",
        "tiermem/api/memory.py",
        "tiermem/runtime/calls.py",
        "tiermem/api/requests.py",
        "tiermem/settings.py",
    ]
    mypy = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=skip", "--cache-dir=.checked"]
    done = subprocess.run([*mypy, *checked], cwd=copy, capture_output=True, text=True, check=False)
    first = len(lines) + len(right) + 1
    told = {int(line) for line in re.findall(r"^breach\.py:(\d+): error", done.stdout, re.MULTILINE)}
    assert told == set(range(first, first + len(wrong))), done.stdout
