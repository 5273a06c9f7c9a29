"""Each section of the page on frameworks is one paste that runs by itself, where its framework is installed.

A block that needs one says so beside its language, ` ```python langchain_core `: it is skipped without it.
"""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/guide/frameworks.md"
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
    exec(compile(block, str(PAGE), "exec"), {"__name__": "page"})  # noqa: S102  (our own)
    printed, _ = capsys.readouterr()
    promised = re.findall(r"^ *(?:print\(.*)?\)  # (.+)", block, re.MULTILINE)
    assert promised
    for one in promised:
        _, found, printed = printed.partition(one)
        assert found, f"{one!r} is not printed, or not in its place"
