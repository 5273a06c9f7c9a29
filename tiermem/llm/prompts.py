"""Prompts are files: a TOML header that says what goes in and comes out, then the words.

Everything put into a prompt is material, not instruction, so every input is wrapped in tags that carry
a mark. The mark is derived from the material and never occurs in it: no text can close its own block.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import Any

from tiermem.text.unicode import join_surrogates

_HEADER = "+++"
_FENCE = "fence"
_FOLDERS = (
    Path(__file__).parents[1] / "_prompts",  # an installed wheel
    Path(__file__).parents[2] / "prompts",  # a checkout
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A checked prompt. `output` names the reply type it describes; `digest` identifies the file's text."""

    name: str
    purpose: str
    inputs: frozenset[str]
    output: str
    body: str
    digest: str

    @property
    def id(self) -> str:
        """`name@hash`: what traces and calls carry."""
        return f"{self.name}@{self.digest}"

    def render(self, **values: str) -> str:
        """Fill in every declared input and nothing else; each is put in its own fenced block."""
        if values.keys() != self.inputs:
            raise TypeError(f"prompt {self.name!r} takes {sorted(self.inputs)}, got {sorted(values)}")
        joined = {name: join_surrogates(value) for name, value in values.items()}
        mark = fence_for(joined.values())
        blocks = {name: f"<{name} {mark}>\n{value}\n</{name} {mark}>" for name, value in joined.items()}
        return Template(self.body).substitute(blocks, **{_FENCE: mark})


def fence_for(values: Iterable[str]) -> str:
    """A mark that occurs in none of the values; the same values get the same mark."""
    material = "\x1f".join(values)
    attempt = 0
    while True:
        mark = hashlib.sha256(f"{attempt}\x1f{material}".encode()).hexdigest()[:10]
        if mark not in material:
            return mark
        attempt += 1


def load(name: str) -> Prompt:
    """The prompt shipped as `prompts/<name>.md`; `FileNotFoundError` names the places looked in."""
    for folder in _FOLDERS:
        if (folder / f"{name}.md").is_file():
            return read_prompt(folder / f"{name}.md")
    raise FileNotFoundError(f"no prompt {name!r} in {' or '.join(str(folder) for folder in _FOLDERS)}")


@lru_cache(maxsize=64)
def read_prompt(path: Path) -> Prompt:
    """A prompt file, checked; `ValueError` says what in header or body does not agree."""
    return parse_prompt(path.stem, path.read_text(encoding="utf-8"))


def parse_prompt(name: str, text: str) -> Prompt:
    """A prompt from its text; `ValueError` when header and body do not agree."""
    opening, header, body = (*text.split(f"{_HEADER}\n", 2), "", "")[:3]
    if opening or not body.strip():
        raise ValueError(f"prompt {name!r} must open with a TOML header between {_HEADER} lines, then a body")
    fields = _header(name, header)
    prompt = Prompt(
        name=name,
        purpose=fields["purpose"],
        inputs=frozenset(fields["inputs"]),
        output=fields["output"],
        body=body.strip(),
        digest=hashlib.sha256(text.encode()).hexdigest()[:12],
    )
    _check_agreement(prompt)
    return prompt


def _header(name: str, header: str) -> dict[str, Any]:
    try:
        fields = tomllib.loads(header)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"the header of prompt {name!r} is not TOML: {error}") from error
    if fields.keys() != {"purpose", "inputs", "output"}:
        raise ValueError(
            f"the header of prompt {name!r} must have purpose, inputs and output, has {sorted(fields)}"
        )
    return fields


def _check_agreement(prompt: Prompt) -> None:
    template = Template(prompt.body)
    if not template.is_valid():
        raise ValueError(f"the body of prompt {prompt.name!r} has a stray $ (write $$ for a dollar sign)")
    used = set(template.get_identifiers())
    if used != prompt.inputs | {_FENCE} or _FENCE in prompt.inputs:
        raise ValueError(
            f"prompt {prompt.name!r} declares {sorted(prompt.inputs)}; its body must use these and "
            f"${_FENCE}, and uses {sorted(used)}"
        )
