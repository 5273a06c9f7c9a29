"""Without its framework an adapter says which extra brings it, and nothing else needs one."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tiermem.errors import InvalidInput, install_command

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
IMPORTED = {
    "autogen": "autogen_core",
    "crewai": "crewai",
    "haystack": "haystack",
    "langchain": "langchain_core",
    "langgraph": "langgraph",
    "llama_index": "llama_index",
    "llm": "llm",
    "openai_agents": "agents",
    "opentelemetry": "opentelemetry",
    "pydantic_ai": "pydantic_ai",
}
"""Each adapter, and the package that it is of no use without."""
OF_ALL = ("__init__", "finding", "items", "tools")


def test_every_adapter_has_an_extra_a_test_an_example_and_a_section_in_the_guide() -> None:
    adapters = {file.stem for file in (ROOT / "tiermem/adapters").glob("*.py")} - {*OF_ALL}
    assert adapters == IMPORTED.keys()
    guide = (ROOT / "docs/guide/frameworks.md").read_text()
    for name in adapters:
        assert name.replace("_", "-") in EXTRAS
        assert (ROOT / f"tests/adapters/test_{name}.py").is_file()
        assert (ROOT / f"examples/with_{name}.py").is_file()
        assert f"tiermem.adapters.{name}" in guide
        assert f"examples/with_{name}.py" in guide


@pytest.mark.parametrize("name", IMPORTED)
def test_without_its_framework_an_adapter_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for loaded in [one for one in sys.modules if one.partition(".")[0] == IMPORTED[name]]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, IMPORTED[name], None)
    monkeypatch.delitem(sys.modules, f"tiermem.adapters.{name}", raising=False)
    with pytest.raises(InvalidInput, match=re.escape(install_command(name.replace("_", "-")))):
        importlib.import_module(f"tiermem.adapters.{name}")
