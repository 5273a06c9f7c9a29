"""Small pages for the tests of this room, in the canonical form, and the real dialogue as such pages."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pagestore import Page, PageId, PageLine, SessionId, SpaceId, Turn

PAGE_CHARACTERS = 4_300


def page_of(turns: Sequence[Turn], *, page_id: str = "p1:test", session: str = "s1", number: int = 0) -> Page:
    text = ""
    lines = []
    for seq, turn in enumerate(turns):
        when = turn.said_at.replace(tzinfo=None).isoformat() if turn.said_at else "unknown"
        start = len(text)
        text += f"[{when}] {turn.speaker}: "
        body = len(text)
        text += turn.text.replace("\n", "\n\t") + "\n"
        lines.append(PageLine(seq=seq, start=start, body=body, end=len(text), turn=turn))
    return Page(
        id=PageId(page_id),
        space=SpaceId("test"),
        session=SessionId(session),
        number=number,
        text=text,
        lines=tuple(lines),
        tokens=len(text) // 4,
        token_counter="estimate",  # noqa: S106 it counts tokens of text  # noqa: S106 it counts tokens of text
        sealed_at=None,
    )


def locomo_time(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023`."""
    match = re.fullmatch(r"(\d+):(\d+) ([ap])m on (\d+) (\w+),? (\d+)", text.strip())
    assert match, text
    hour = int(match[1]) % 12 + (12 if match[3] == "p" else 0)
    day = datetime.strptime(f"{match[4]} {match[5]} {match[6]}", "%d %B %Y").replace(tzinfo=UTC)
    return day + timedelta(hours=hour, minutes=int(match[2]))


def locomo_turn(raw: dict[str, Any], said_at: datetime) -> Turn:
    caption = f" (photo: {raw['blip_caption']})" if raw.get("blip_caption") else ""
    return Turn(speaker=raw["speaker"], text=raw["text"] + caption, said_at=said_at, turn_id=raw["dia_id"])


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
    for raw in json.loads((locomo / "locomo_dev7.json").read_text(encoding="utf-8")):
        facts_file = locomo / "model_facts" / f"{raw['sample_id']}.jsonl"
        facts = (
            [json.loads(line) for line in facts_file.read_text().splitlines()] if facts_file.exists() else []
        )
        yield _conversation(raw, facts)


def _conversation(raw: dict[str, Any], facts: list[dict[str, Any]]) -> Conversation:
    said = raw["conversation"]
    made = Conversation(
        raw["sample_id"], (said["speaker_a"], said["speaker_b"]), [], {}, {}, raw["qa"], facts
    )
    for number in range(1, 100):
        session = said.get(f"session_{number}")
        if not session:
            continue
        when = locomo_time(said[f"session_{number}_date_time"])
        turns = [locomo_turn(turn, when + timedelta(seconds=i)) for i, turn in enumerate(session)]
        for at, group in enumerate(_groups(turns)):
            page = page_of(
                group, page_id=f"p1:{raw['sample_id']}-{number}-{at}", session=f"session_{number}", number=at
            )
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
