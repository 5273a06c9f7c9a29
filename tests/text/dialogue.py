"""Small pages for the tests of this room, and the real dialogue as pages of about a thousand tokens."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagestore import Page, PageId, SessionId, SpaceId, Turn
from pagestore.rendering import TurnPart, render_page
from tiermem.dialogue.locomo import LocomoSample, parse_locomo

PAGE_CHARACTERS = 4_300


def page_of(turns: Sequence[Turn], *, page_id: str = "p1:test", session: str = "s1", number: int = 0) -> Page:
    text, lines = render_page(TurnPart(seq=seq, turn=turn) for seq, turn in enumerate(turns))
    return Page(
        id=PageId(page_id),
        space=SpaceId("test"),
        session=SessionId(session),
        number=number,
        text=text,
        lines=lines,
        tokens=len(text) // 4,
        token_counter="quarter",  # noqa: S106 it counts tokens of text
        sealed_at=None,
    )


@dataclass
class Conversation:
    """One LoCoMo conversation as pages, with the page each turn stands on."""

    name: str
    speakers: tuple[str, str]
    pages: list[Page]
    page_of_turn: dict[str, Page]
    turns: dict[str, Turn]
    qa: list[dict[str, Any]]
    facts: list[dict[str, Any]]


def conversations(locomo: Path) -> Iterator[Conversation]:
    document = json.loads((locomo / "locomo_dev7.json").read_text(encoding="utf-8"))
    for raw, sample in zip(document, parse_locomo(document), strict=True):
        facts_file = locomo / "model_facts" / f"{sample.sample_id}.jsonl"
        facts = (
            [json.loads(line) for line in facts_file.read_text().splitlines()] if facts_file.exists() else []
        )
        yield _conversation(sample, raw["qa"], facts)


def _conversation(
    sample: LocomoSample, qa: list[dict[str, Any]], facts: list[dict[str, Any]]
) -> Conversation:
    made = Conversation(sample.sample_id, sample.speakers, [], {}, {}, qa, facts)
    for session in sample.sessions:
        for at, group in enumerate(_groups(session.turns)):
            page_id = f"p1:{sample.sample_id}-{session.session}-{at}"
            page = page_of(group, page_id=page_id, session=session.session, number=at)
            made.pages.append(page)
            made.page_of_turn |= {turn.turn_id or "": page for turn in group}
            made.turns |= {turn.turn_id or "": turn for turn in group}
    return made


def _groups(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    group: list[Turn] = []
    size = 0
    for turn in turns:
        more = len(turn.text) + len(turn.speaker) + 26
        if group and size + more > PAGE_CHARACTERS:
            yield group
            group, size = [], 0
        group.append(turn)
        size += more
    if group:
        yield group
