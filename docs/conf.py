"""How the documentation is built: `make docs`. Warnings are errors, a link that leads nowhere among them."""

import re
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any, NewType

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

import tiermem

project = "TierMem"
author = "the authors of TierMem"
release = version = installed("tiermem")

extensions = ["sphinx.ext.autodoc", "myst_parser"]
source_suffix = {".md": "markdown"}

html_theme = "furo"
html_title = f"TierMem {release}"
html_copy_source = False
html_show_copyright = False
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_favicon = "../tiermem/apps/http/page/icon.svg"
html_search_scorer = str(Path(__file__).with_name("search_scorer.js"))
pygments_dark_style = "a11y-dark"

default_role = "py:obj"  # a name in a docstring's backticks leads to where it is described, if anywhere
nitpicky = True
nitpick_ignore_regex = [("py:obj", ".*")]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
add_module_names = False
python_maximum_signature_line_length = 90
maximum_signature_line_length = 90

_OURS = ("tiermem", "pagestore")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_DRAWN = ("├", "└", "│")


def _as_rst(_app: Sphinx, _what: str, name: str, obj: Any, _options: Any, lines: list[str]) -> None:
    """Docstrings are plain text: paragraphs, `code`, lists after any line, and what is set in or drawn."""
    if isinstance(obj, NewType):
        lines[:] = ["A text, which a type checker tells from any other.", ""]
        return
    given, lines[:] = ["", *lines, ""], []
    literal = False
    for before, line, after in zip(given, given[1:], given[2:], strict=False):
        drawn = line.startswith(_DRAWN) or after.startswith(_DRAWN)
        if not literal and (drawn or (line.startswith("    ") and not before and not _in_list(lines))):
            literal = True
            lines += ["", "::", ""]
        elif literal and line and not drawn and not line.startswith("    "):
            literal = False
            lines.append("")
        if line.startswith("- ") and before and not _in_list(lines):
            lines.append("")
        lines.append(f"    {line}" if drawn else line if literal else _plain(line))
    if (default := _default(name)) is not None:
        lines += ["", f"Default: ``{default}``.", ""]


def _in_list(before: list[str]) -> bool:
    return next((line.startswith("- ") for line in reversed(before) if line and line[0] != " "), False)


def _default(name: str) -> str | None:
    """What a setting is where nobody gives it; `None` for whatever is no setting."""
    owner, _, field = name.rpartition(".")
    known = tiermem.Settings.model_fields.get(field) if owner == "tiermem.Settings" else None
    return repr(known.get_default(call_default_factory=True)) if known else None


def _plain(line: str) -> str:
    """A line in which nothing but code in backticks means anything to the parser of reStructuredText."""
    return "".join(
        (part if _NAME.fullmatch(part[1:-1]) else f"`{part}`")
        if part.startswith("`")
        else re.sub(r"([\\*|]|(?<=\w)_(?!\w))", r"\\\1", part)
        for part in re.split(r"(`[^`]+`)", line)
    )


def _public_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element
) -> nodes.Node | None:
    """A type is described under the name `tiermem` gives it, wherever it is written; others need no page."""
    if node.get("refdomain") != "py" or node["reftype"] == "mod":
        return None
    target = node["reftarget"]
    domain = env.domains.python_domain
    for name in (f"tiermem.{target.rpartition('.')[2]}", target):
        if name in domain.objects:
            found = domain.objects[name]
            return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, contnode, name)
    return None if target.startswith(_OURS) else contnode


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _as_rst)
    app.connect("missing-reference", _public_name)
