"""What an installation brings: the two packages and nothing of evaluation, and extras for what not all need."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT: dict[str, Any] = PYPROJECT["project"]
WHEEL: dict[str, Any] = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


def test_the_wheel_brings_two_packages_and_takes_nobody_elses_name() -> None:
    tops = {Path(name).parts[0] for name in (*WHEEL["packages"], *WHEEL["force-include"].values())}
    assert tops == {"tiermem", "pagestore"}


def test_nothing_installed_points_at_what_is_not() -> None:
    targets = [*PROJECT["scripts"].values()]
    targets += [one for group in PROJECT.get("entry-points", {}).values() for one in group.values()]
    assert {target.partition(".")[0] for target in targets} == {"tiermem"}


def test_evaluation_runs_from_a_checkout() -> None:
    command = [sys.executable, "-m", "eval", "systems"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "bm25" in done.stdout.split()
