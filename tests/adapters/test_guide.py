"""Each section of the page on frameworks is one paste that runs by itself, where its framework is installed.

A block that needs one says so beside its language, ` ```python langchain_core `: it is skipped without it.
"""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.pictures import in_picture, words
from tiermem.apps.cli.app import app

PAGE = Path(__file__).parents[2] / "docs/guide/frameworks.md"
IMAGES = PAGE.parents[1] / "images"
BLOCKS = re.findall(r"^```python ([\w.]+)\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("needs", "block"), BLOCKS, ids=[needs for needs, _ in BLOCKS])
def test_a_paste_runs_and_prints_what_is_shown_beside_it(
    needs: str,
    block: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip(needs, reason=f"{needs} is not installed: `make test-adapters` brings it")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    exec(compile(block, str(PAGE), "exec"), {"__name__": "page"})  # noqa: S102  (our own)
    printed, _ = capsys.readouterr()
    if (picture := IMAGES / f"with_{needs.partition('.')[0]}.svg").exists() and "opentelemetry" not in needs:
        search = ["search", "Biscuit", "--kind", "turns", "--limit", "2"]
        found = CliRunner().invoke(app, search, env={"COLUMNS": "92"}, catch_exceptions=False).stdout
        typed = f"$ python paste.py\n{printed}\n$ tiermem {' '.join(search)}\n{found}"
        assert words(in_picture(picture.read_text())) == words(typed)
    promised = re.findall(r"^ *(?:print\(.*)?\)  # (.+)", block, re.MULTILINE)
    assert promised
    for one in promised:
        _, found, printed = printed.partition(one)
        assert found, f"{one!r} is not printed, or not in its place"
