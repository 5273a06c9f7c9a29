"""What the README shows is what happens."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_readme_example_runs_and_says_what_it_shows(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})  # noqa: S102  (the example is ours)
    shown = capsys.readouterr().out
    for promised in re.findall(r"print\(.*\)\s+# (.+)", example)[:2]:
        assert promised in shown
    assert [entry.name for entry in tmp_path.iterdir()] == ["memory"]


def test_every_decision_and_file_the_readme_names_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target


def test_every_setting_and_method_the_readme_names_exists() -> None:
    import tiermem

    text = README.read_text()
    for name in set(re.findall(r"memory\.(\w+)\(", text)) - {"open"}:
        assert hasattr(tiermem.Memory, name), name
    for name in set(re.findall(r"TIERMEM_([A-Z_]+)=", text)):
        assert name.lower() in tiermem.Settings.model_fields, name
