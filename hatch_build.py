"""Adds what `release.toml` holds to the metadata of a build: authors, links, a description with whole links.

A description on a package index has no folder beside it, so its relative links lead to the repository. While
the address of the repository is empty, there are no links and the description is the README as it is.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\]]*\])\((?![a-z]+:|#)(?P<target>[^)]+)\)")
_PAGES = {"Changelog": "CHANGELOG.md", "Documentation": "docs/index.md", "Security": "SECURITY.md"}


class ReleaseMetadata(MetadataHookInterface):
    """The metadata that `pyproject.toml` lists as dynamic."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add authors, links and the description."""
        root = Path(self.root)
        values = tomllib.loads((root / "release.toml").read_text(encoding="utf-8"))
        readme = (root / "README.md").read_text(encoding="utf-8")
        repository, tag = values["repository"].rstrip("/"), f"v{metadata['version']}"
        metadata["authors"] = values["authors"]
        metadata["urls"] = list_links(repository, tag) if repository else {}
        text = lead_to_repository(readme, repository, tag) if repository else readme
        if values["mcp_name"]:
            text += f"\n<!-- mcp-name: {values['mcp_name']} -->\n"
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def list_links(repository: str, tag: str) -> dict[str, str]:
    """List the links of the project: its repository, its issues, and pages of this version."""
    pages = {name: f"{repository}/blob/{tag}/{page}" for name, page in _PAGES.items()}
    return {"Repository": repository, "Issues": f"{repository}/issues", **pages}


def lead_to_repository(text: str, repository: str, tag: str) -> str:
    """Replace each relative link of a Markdown text by one to the repository at a tag."""

    def replace(link: re.Match[str]) -> str:
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}{link['text']}({repository}/{kind}/{tag}/{link['target']})"

    return _LINK.sub(replace, text)
