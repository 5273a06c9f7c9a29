"""Files that a release needs besides its packages, made of `release.toml`, `pyproject.toml` and the pages.

`python -m deploy.release check` stops where a value of the owner is missing, and names it; `write` writes
`CITATION.cff` and `llms.txt`, which are in the repository; `server` prints the entry for the MCP registry.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
ANONYMOUS = "The authors of TierMem"
"""Who is cited while `release.toml` names no authors."""

_TOCTREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerValues:
    """What only the owner can give; an empty value is missing."""

    repository: str
    authors: list[dict[str, str]]
    pypi_name: str
    mcp_name: str


def read_values(root: Path = ROOT) -> OwnerValues:
    """Read `release.toml`."""
    return OwnerValues(**tomllib.loads((root / "release.toml").read_text(encoding="utf-8")))


def read_project(root: Path = ROOT) -> dict[str, Any]:
    """Read the table `project` of `pyproject.toml`."""
    project: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def find_problems(values: OwnerValues, project: dict[str, Any], tag: str = "") -> list[str]:
    """Find what keeps a release from being made, missing values first; a tag has to be of the version."""
    problems = [f"`{one.name}` is empty" for one in fields(values) if not getattr(values, one.name)]
    if values.repository and not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", values.repository):
        problems.append("`repository` is not https://github.com/OWNER/NAME")
    if values.pypi_name not in ("", project["name"]):
        problems.append(f"`pypi_name` is not the name in pyproject.toml, {project['name']!r}")
    if values.mcp_name and not re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", values.mcp_name):
        problems.append("`mcp_name` is not NAMESPACE/NAME")
    if tag not in ("", f"v{project['version']}"):
        problems.append(f"the tag {tag!r} is not of the version in pyproject.toml, {project['version']}")
    return problems


def write_citation(values: OwnerValues, project: dict[str, Any]) -> str:
    """Write how the project is cited, in the Citation File Format. JSON strings are strings of YAML."""
    authors = values.authors or [{"name": ANONYMOUS}]
    lines = [
        "cff-version: 1.2.0",
        "message: If you use TierMem in research, please cite it as below.",
        "type: software",
        "title: TierMem",
        f"abstract: {json.dumps(project['description'])}",
        f"version: {project['version']}",
        f"license: {project['license']}",
        *([f"repository-code: {values.repository}"] if values.repository else []),
        "authors:",
    ]
    for author in authors:
        named = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in author.items()]
        lines += [f"  {'-' if not at else ' '} {line}" for at, line in enumerate(named)]
    return "\n".join(lines) + "\n"


def build_server_entry(values: OwnerValues, project: dict[str, Any]) -> dict[str, Any]:
    """Build the entry for the MCP registry: `uvx` runs `tiermem mcp`, and asks where the memory is."""
    name, version = project["name"], project["version"]
    package = {
        "registryType": "pypi",
        "identifier": name,
        "version": version,
        "runtimeHint": "uvx",
        "runtimeArguments": [
            {"type": "named", "name": "--with", "value": f"{name}[local,mcp]=={version}"},
        ],
        "packageArguments": [
            {"type": "positional", "value": "mcp"},
            {
                "type": "named",
                "name": "--store",
                "description": "Directory of the memory, as a whole path; it is made if it is not there.",
                "format": "filepath",
                "isRequired": True,
            },
            {"type": "named", "name": "--space", "description": "Whose memory it is.", "value": "me"},
        ],
        "transport": {"type": "stdio"},
    }
    return {
        "$schema": SCHEMA,
        "name": values.mcp_name,
        "title": "TierMem",
        "description": "Memory for agents: what was said, word for word, and the words each answer rests on.",
        "repository": {"url": values.repository, "source": "github"},
        "version": version,
        "packages": [package],
    }


def write_contents(root: Path = ROOT) -> str:
    """Write the pages of the documentation, in their order, each with its title: https://llmstxt.org."""
    index = (root / "docs" / "index.md").read_text(encoding="utf-8")
    title, summary = re.findall(r"^(?!```)\S.*$", index, re.MULTILINE)[:2]
    lines = [title, "", f"> {summary}"]
    for tree in _TOCTREE.findall(index):
        lines += ["", f"## {re.findall(r':caption: (.+)', tree)[0]}", ""]
        lines += [f"- [{read_title(page)}]({page.relative_to(root)})" for page in list_pages(root, tree)]
    return "\n".join(lines) + "\n"


def list_pages(root: Path, tree: str, folder: str = "docs") -> Iterator[Path]:
    """List the pages that a table of contents names, each with those that it names itself."""
    for name in re.findall(r"^([\w/-]+)$", tree, re.MULTILINE):
        page = root / folder / f"{name}.md"
        yield page
        for inner in _TOCTREE.findall(page.read_text(encoding="utf-8")):
            yield from list_pages(root, inner, page.parent.relative_to(root).as_posix())


def read_title(page: Path) -> str:
    """Read the first heading of a page, or of the page that it includes."""
    text = page.read_text(encoding="utf-8")
    if included := re.match(r"```\{include\} (\S+)", text):
        return read_title((page.parent / included[1]).resolve())
    [title, *_] = re.findall(r"^# (.+)$", text, re.MULTILINE)
    return str(title)


def main(command: str, tag: str = "") -> None:
    """Run one of the three commands."""
    values, project = read_values(), read_project()
    if command == "write":
        (ROOT / "CITATION.cff").write_text(write_citation(values, project), encoding="utf-8")
        (ROOT / "llms.txt").write_text(write_contents(), encoding="utf-8")
        return
    if problems := find_problems(values, project, tag):
        sys.exit(f"no release: {'; '.join(problems)} (values of the owner are in release.toml)")
    if command == "server":
        sys.stdout.write(json.dumps(build_server_entry(values, project), indent=2) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
