"""Every public function that is given text, and arguments for it made from a hostile text."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from pagestore import Page, SessionId, Span, Turn
from pagestore.rendering import TurnPart
from pagestore.tokens import EstimateCounter
from tests.growth.expressions import modules
from tests.growth.measure import growth
from tests.growth.texts import KINDS
from tests.growth.transcripts import TRANSCRIPTS
from tests.reasoning.learned import splitting
from tests.text.dialogue import page_of
from tiermem.dialogue.date_order import NumericDate
from tiermem.dialogue.formats import READERS, DialogueSource, FormatReader
from tiermem.dialogue.formats.agent_turns import AgentTurn, Transcript, TurnOrigin
from tiermem.dialogue.interface import Conversation, DialogueSession
from tiermem.dialogue.speakers import NameBeforeColon
from tiermem.embedding.words import Stems, WordPieces
from tiermem.errors import TierMemError
from tiermem.index.values import Entry, TurnContext
from tiermem.model import (
    Caution,
    Check,
    Claim,
    Decision,
    Derivation,
    Evidence,
    LinkedFact,
    Search,
    SummaryUnit,
    TakenBack,
    Term,
    UnitId,
)
from tiermem.proof.ground import Ground, QuotedTurn
from tiermem.proof.match import LONGEST_ANSWER, find_items
from tiermem.proof.sentences import read_sentences, read_tokens
from tiermem.reading import LONGEST_QUESTION
from tiermem.reading.ranking import RankingOptions, cover_by_stems, turn_query
from tiermem.reading.turns import candidates_on_pages
from tiermem.reasoning.interface import Draft, PageView, SaidTurn
from tiermem.reasoning.learned.pieces import Pieces, encode
from tiermem.reasoning.rules.sentences import Matcher, sentences_read
from tiermem.text import Source, resolve_dates
from tiermem.text.question import Question
from tiermem.text.readings import People, Speech
from tiermem.trust import DEFAULT_TRUST

ROOTS = (
    "tiermem.proof",
    "tiermem.salience.attribute",
    "tiermem.text",
    "tiermem.trust",
    "tiermem.reasoning.rules",
    "tiermem.reasoning.learned",
    "tiermem.dialogue",
    "tiermem.reading.ranking",
    "tiermem.reading.timeframe",
    "tiermem.reading.quoting",
    "tiermem.reading.check",
    "tiermem.index.bm25",
    "tiermem.index.encoding",
    "pagestore.unicode",
    "tiermem.llm.json_reply",
    "tiermem.llm.near_json",
    "pagestore.tokens",
    "pagestore.pager",
    "pagestore.rendering",
)
SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
LATER = SAID.replace(year=SAID.year + 1)
QUESTION = "How many dogs did Ann have in Oslo before 7 May 2023, and what did she say of them?"

TAKES_NO_TEXT = {
    "tiermem.dialogue.agent_folders.transcript_folders": "takes the name of an agent",
    "tiermem.dialogue.agent_folders.transcripts_in": "takes a path",
    "tiermem.dialogue.archive.is_archive": "takes bytes, of which it looks at four",
    "tiermem.dialogue.archive.read_archive": "takes bytes; the texts in them go to the readers",
    "tiermem.dialogue.packed.unpack": "takes bytes",
    "tiermem.dialogue.packed.read_unpacked": "takes a stream of bytes",
    "tiermem.dialogue.database.is_database": "takes bytes, of which it looks at sixteen",
    "tiermem.dialogue.database.as_json": "takes bytes; the texts in them go to a reader",
    "tiermem.dialogue.database.choose_tables": "takes bytes, of which it reads the names of tables",
    "tiermem.dialogue.database.rows_as_json": "takes a path",
    "tiermem.dialogue.database.with_log": "takes bytes and a path",
    "tiermem.dialogue.formats.opencode.session_as_json": "takes a path",
    "tiermem.dialogue.read.read_opencode_session": "takes a path",
    "tiermem.dialogue.formats.memories.by_session": "takes turns",
    "tiermem.dialogue.formats.memories.read_entries": "takes entries, and what reads each",
    "tiermem.dialogue.formats.source.alone": "takes sessions",
    "tiermem.dialogue.identity.alternatives": "never ends; hashes the text once",
    "tiermem.dialogue.error_location.place": "names where an error lies, around other work",
    "tiermem.dialogue.error_location.record": "names where an error lies, around other work",
    "tiermem.dialogue.error_location.skip_unreadable": "takes a list",
    "tiermem.reasoning.learned.decode.best_span": "takes numbers",
    "tiermem.reasoning.learned.ordering.with_reader": "takes a path",
    "tiermem.reasoning.learned.factors.merge_weights": "takes tensors",
    "tiermem.reasoning.learned.factors.read_head": "takes a path",
    "tiermem.reasoning.learned.factors.texts_of": "takes bytes",
    "tiermem.reasoning.learned.factors.unpack": "takes bytes",
    "tiermem.reasoning.learned.factors.read_header": "takes bytes",
    "tiermem.reasoning.learned.graph.reader_initializers": "takes tensors",
    "tiermem.reasoning.learned.first_line.read_first_line": "takes a header",
    "tiermem.reasoning.learned.shared.shared_reader": "takes a path",
    "tiermem.proof.in_words.support_in_words": "takes an answer, whose text it leaves alone",
    "tiermem.reading.ranking.rank_groups": "takes scores",
    "tiermem.reading.timeframe.whole_days": "takes days",
    "tiermem.text.dates.add_months": "takes a day",
    "tiermem.text.dates.count": "takes a word that a pattern found",
    "tiermem.index.bm25.rarity": "takes counts",
    "tiermem.index.bm25.weigh_term": "takes counts",
    "tiermem.index.bm25.weigh_terms": "takes counts",
    "pagestore.pager.full_page": "takes sizes",
}


def functions() -> dict[str, Callable[..., Any]]:
    """The public functions of the modules that work on text, what reads each format of files, and the parts
    of a question.
    """
    readers = {f"tiermem.dialogue.formats.{reader.name}": _reading(reader) for reader in READERS}
    question = {"tiermem.text.question.Question": read_parts_of_question}
    return (
        readers
        | question
        | {
            f"{module.__name__}.{name}": value
            for module in modules(*ROOTS)
            for name, value in vars(module).items()
            if not name.startswith("_")
            and getattr(value, "__module__", None) == module.__name__
            and inspect.isfunction(inspect.unwrap(value))
            and f"{module.__name__}.{name}" not in TAKES_NO_TEXT
        }
    )


def read_parts_of_question(question: str) -> list[Any]:
    """What every property of a question gives."""
    asked = Question(question, SAID)
    return [
        getattr(asked, name) for name, part in vars(Question).items() if isinstance(part, cached_property)
    ]


def _reading(reader: FormatReader) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        made = TRANSCRIPTS.get(reader.name, str)(text)
        opened = DialogueSource(name="chat", text=made, session="s", keep_thinking=True)
        return reader.read(opened) if reader.knows(opened) else None

    return read


def _items(text: str) -> DialogueSource:
    return DialogueSource(name="chat", text=json.dumps({"items": [{"text": text}] * 3}), session="s")


def _lines_of_json(text: str) -> DialogueSource:
    """A transcript that has the text in one record, each line of it in another, and is cut off."""
    records = [json.dumps({"type": part, "text": part}) for part in (text, *text.split("\n")[:2_000])]
    return DialogueSource(name="chat.jsonl", text="\n".join([*records, json.dumps(text)[:-1]]), session="s")


def _path(text: str) -> str:
    """An absolute path of many folders, none of which is there."""
    return f"/nowhere/{text.replace(' ', '/')}"


def agent_turn(text: str) -> AgentTurn:
    return AgentTurn(
        record=text,
        author="agent",
        kind="tool_call",
        text=text,
        said_at=SAID,
        place=TurnOrigin(agent="codex"),
        path=text,
        question=text,
        thinking=text,
    )


def agent_session(text: str) -> DialogueSession:
    """A session of a coding agent whose repository and directory are the text."""
    turns = [turn("Weave."), replace(turn(text), metadata={"repository": text, "directory": f"/{text}"})]
    return DialogueSession(session=SessionId("s"), turns=tuple(turns), has_records=True)


def source(text: str) -> Source:
    span = Span(page_id=PAGE.id, start=0, end=len(text))
    return Source(text=text, said_at=SAID, speaker="Ann", spans=(span,))


def turn(text: str) -> Turn:
    return Turn(speaker="Ann", text=text, said_at=SAID)


def page(text: str) -> Page:
    """The text as one turn, among others, and again as a turn a line."""
    lines = [turn(line) for line in text.split("\n")[:2_000]] if "\n" in text else []
    return page_of([turn("Do you have dogs, Ben?"), turn(text), *lines, turn("I have 3 dogs in Oslo.")])


PAGE = page("x")


def evidence(text: str) -> Evidence:
    return Evidence(text=f"Ann: {text}", spans=(), score=1.0, source="unit", said_at=SAID)


def spoken(text: str) -> SaidTurn:
    return SaidTurn(speaker="Ann", text=text, said_at=SAID)


class _Reads:
    """A reader that points at nothing in particular."""

    def pieces(self, first: str, second: str) -> Pieces:
        return encode(splitting(), first, second)

    def outputs(self, pieces: Pieces) -> dict[str, Any]:
        return {"span": np.zeros((len(pieces.ids), 2), np.float32), "suffices": np.zeros(1, np.float32)}


def unit(text: str) -> SummaryUnit:
    return SummaryUnit(
        id=UnitId("u1"),
        text=f"Ann: {text}",
        spans=(),
        kind="quote",
        support="quoted",
        session=SessionId("s"),
        said_at=SAID,
    )


def fact(text: str) -> LinkedFact:
    at = page(text)
    spans = tuple(Span(page_id=at.id, start=line.body, end=line.end) for line in at.lines[:2])
    return LinkedFact(claim=f"Ann: {text}", quotes=(text,), spans=spans, support="worded")


def claim(text: str) -> Claim:
    """Two quotes, one of which is on no page, and one in many parts."""
    parts = " … ".join(text[at : at + 7] for at in range(0, 1_400, 7))
    return Claim(
        text=f"Ann has 3 dogs. {text[:900]}", quotes=(text[:4_000], parts, "I have dogs"), scene="dogs"
    )


def ground(text: str) -> Ground:
    told = (
        QuotedTurn(quote=text[:4_000], turn=source(text)),
        QuotedTurn(quote="I have 3 dogs.", turn=source("I have 3 dogs.")),
    )
    return Ground(quoted=told, asked=text, everyone=("Ann", "Ben"))


def derivation(text: str) -> Derivation:
    return Derivation(kind="date", value="7 May 2023", terms=(Term(text=text, said_at=SAID),))


def scored(text: str) -> Any:
    found = list(sentences_read(f"Ann: dogs {text}", 0, SAID))
    return max(
        Matcher(Question(QUESTION, SAID), found).best(found),
        key=lambda one: len(one.sentence.text),
        default=None,
    )


MADE: dict[str, Callable[[str], Any]] = {
    "str": lambda text: text,
    "str | None": lambda text: text,
    "object": lambda text: {"speaker": text, "content": text, "session": text},
    "bool": lambda _: True,
    "int": lambda _: 1,
    "float": lambda _: 1.0,
    "Decimal": lambda _: Decimal(7),
    "date": lambda _: SAID.date(),
    "datetime": lambda _: SAID,
    "datetime | None": lambda _: SAID,
    "datetime | date | None": lambda _: SAID,
    "Container[str | None]": lambda text: ("system", text),
    "Iterable[object]": lambda text: (text, None, "I have 3 dogs."),
    "Sequence[NameBeforeColon]": lambda text: tuple(
        NameBeforeColon(name=part, is_stamped=False, text="7 g", line=line)
        for line, part in enumerate((text, *text.split()))
        if part.strip()
    ),
    "Iterable[str]": lambda text: (text, "I have 3 dogs."),
    "Sequence[str]": lambda text: (text, "I have 3 dogs."),
    "Collection[str]": lambda text: {text, "dog"},
    "Source": source,
    "Sequence[Source]": lambda text: (source(text), source("I have 3 dogs.")),
    "Iterable[Source]": lambda text: (source(text), source("I have 3 dogs.")),
    "Sequence[Source | str]": lambda text: (source(text), "I have 3 dogs."),
    "SaidTurn": lambda text: SaidTurn(speaker="Ann", text=text, said_at=SAID),
    "Iterable[SaidTurn]": lambda text: (SaidTurn(speaker="Ann", text=text, said_at=LATER),),
    "Sequence[SaidTurn]": lambda text: (SaidTurn(speaker="Ann", text=text, said_at=SAID),),
    "DateMention": lambda _: resolve_dates("7 May 2023", SAID)[0],
    "Iterable[PlacedText]": lambda text: resolve_dates(text, SAID),
    "Question": lambda text: Question(text[:LONGEST_QUESTION], SAID),
    "Iterable[DateMention]": lambda text: resolve_dates(text, SAID),
    "Derivation": derivation,
    "Term": lambda text: Term(text=text),
    "Sequence[Term]": lambda text: tuple(Term(text=part) for part in (text, *text.split())),
    "Check": lambda text: Check(support="worded", unsupported=(text,), reason=text),
    "Caution": lambda text: Caution(code="negation"),
    "Decision": lambda text: Decision(action="ANSWER", score=0.5, reason=text, router="rules"),
    "People": lambda _: People(speaker="Ann", others=("Ben",)),
    "Ground": ground,
    "Claim": claim,
    "LinkedFact": fact,
    "LinkedFact | Rejected": fact,
    "Sequence[LinkedFact]": lambda text: (fact(text), fact("I have 3 dogs.")),
    "Turn": turn,
    "Iterable[Turn]": lambda text: [turn(line) for line in text.split("\n")],
    "Iterable[TurnPart]": lambda text: [
        TurnPart(seq=at, turn=turn(line)) for at, line in enumerate(text.split("\n"))
    ],
    "Page": page,
    "Sequence[Page]": lambda text: (page(text),),
    "Iterable[Page]": lambda text: (page(text),),
    "Sequence[PageView]": lambda text: (PageView(page=page(text)),),
    "PageLine": lambda text: page(text).lines[1],
    "Span": lambda text: Span(page_id=PAGE.id, start=0, end=len(text)),
    "Iterable[Span]": lambda text: (Span(page_id=PAGE.id, start=0, end=len(text)),),
    "Sequence[tuple[int, int]]": lambda text: [(40, max(40, len(text) - 1))],
    "Sequence[Span]": lambda text: (Span(page_id=PAGE.id, start=0, end=len(text)),),
    "Mapping[PageId, Page]": lambda text: {PAGE.id: page(text)},
    "Callable[[str], int]": lambda _: EstimateCounter().count,
    "Callable[[Turn], int]": lambda _: lambda turn: len(turn.text) % 2,
    "Callable[[PageLine], bool]": lambda _: lambda line: line.seq % 2 == 0,
    "ScoredSentence": scored,
    "Draft": lambda text: Draft(text=text[:LONGEST_QUESTION], cited=(0, 1), abstained=False),
    "Evidence": evidence,
    "Sequence[Evidence]": lambda text: (evidence(text), evidence("I have 3 dogs.")),
    "Iterable[Evidence]": lambda text: (evidence(text), evidence("I have 3 dogs.")),
    "Sequence[Search]": lambda text: (Search(kind="KEYWORD", query=text[:LONGEST_QUESTION]),),
    "SummaryUnit": unit,
    "Sequence[SummaryUnit]": lambda text: (unit(text), unit("I have 3 dogs.")),
    "Entry": lambda text: Entry(
        id="1",
        session=SessionId("s"),
        text=text,
        scene=text,
        context=TurnContext(page=page(text), line=1, around=text),
    ),
    "Collection": lambda _: "turns",
    "Collection | Literal['around']": lambda _: "turns",
    "TrustLevels": lambda _: DEFAULT_TRUST,
    "TurnLike | Iterable[TurnLike]": lambda text: [{"role": "user", "content": text}],
    "Mapping[str, Any]": lambda text: {text: [text]},
    "TurnQuery": lambda _: turn_query(Question(QUESTION, SAID), (), {}),
    "Candidates": lambda text: candidates_on_pages([page(text).lines[1].seq], [page(text)]),
    "CoverRows": lambda _: cover_by_stems,
    "WordPieces": lambda _: WordPieces(lambda word: [len(word) % 8], np.eye(8, dtype=np.float32)),
    "Block": lambda text: candidates_on_pages([page(text).lines[1].seq], [page(text)]).block,
    "Lexicon": lambda _: Stems(),
    "RankingOptions": lambda _: RankingOptions(),
    "AgentTurn": agent_turn,
    "Sequence[AgentTurn]": lambda text: [agent_turn(line) for line in (text, *text.split("\n")[:2_000])],
    "frozenset[str]": lambda text: frozenset({text}),
    "Callable[[str], str]": lambda _: str.strip,
    "DialogueSession": agent_session,
    "Iterable[Conversation]": lambda text: [
        Conversation(space_hint=None, sessions=(agent_session(line),))
        for line in (text, *text.split("\n")[:2_000])
    ],
    "Iterable[TakenBack]": lambda text: [
        TakenBack(
            span=Span(page_id=page(text).id, start=at, end=at + 20), reason="wrong", unit_id=UnitId("u1:x")
        )
        for at in range(0, len(text), 100)
    ],
}
"""What to give for a parameter, by its annotation. A question is of the length that may be asked."""


OWN: dict[str, Callable[[str], dict[str, Any]]] = {
    "tiermem.proof.ground.gives_words_to_stranger": lambda text: {
        "own": Speech("Zoe", "", text[:1_000], 5),
        "ground": ground(text),
    },
    "tiermem.proof.ground.is_event_dated": lambda text: {"event_at": "2023", "quoted": ground(text).quoted},
    "tiermem.dialogue.read.read_dialogue": lambda text: {
        "source": io.StringIO(f"Ann: {text}"),
        "format": "transcript",
    },
    "tiermem.dialogue.transcript.parse_transcript": lambda text: {"text": f"Ann: {text}", "session": "s"},
    "tiermem.dialogue.longmemeval.parse_longmemeval": lambda text: {"document": [text]},
    "tiermem.dialogue.turns_file.array_turns": lambda text: {"document": [{"speaker": "Ann", "text": text}]},
    "tiermem.dialogue.formats.memories.entries": lambda text: {"source": _items(text), "keys": ["items"]},
    "tiermem.dialogue.formats.memories.first_entry": lambda text: {
        "source": _items(text),
        "keys": ["items"],
    },
    "tiermem.dialogue.formats.memories.read_memories": lambda text: {
        "source": _items(text),
        "keys": ["items"],
        "read": lambda entry: ("s", turn(str(entry))),
    },
    "tiermem.dialogue.formats.memories.session_name": lambda text: {"by": "mem0", "names": [text]},
    "tiermem.dialogue.formats.memories.fact_turn": lambda text: {
        "by": "mem0",
        "text": text,
        "name": text,
        "at": None,
        "known": {"id": text},
    },
    "tiermem.dialogue.error_location.listing": lambda text: {"record": {"turns": [text]}, "key": "turns"},
    "tiermem.dialogue.error_location.objects": lambda text: {
        "record": {"turns": [{"text": text}]},
        "key": "turns",
    },
    "tiermem.dialogue.date_order.decide_order": lambda text: {
        "dates": [NumericDate(numbers=(1, 2, len(line) % 100)) for line in text.split("\n")],
        "given": None,
    },
    "tiermem.dialogue.identity.chat_id": lambda text: {
        "form": "telegram",
        "own_id": None,
        "turns": [turn(line) for line in text.split("\n")],
    },
    "tiermem.dialogue.identity.identify_turns": lambda text: {
        "session": "s",
        "turns": [turn(line) for line in text.split("\n")],
    },
    "tiermem.dialogue.turns_file.group_sessions": lambda text: {
        "messages": [(text, {"speaker": "Ann", "text": text})],
        "default": "s",
    },
    "tiermem.dialogue.formats.slack.read_archive": lambda text: {
        "files": {"users.json": "[]", f"{text}/2024-05-14.json": "[]"}
    },
    "tiermem.dialogue.formats.agent_turns.first_records": lambda text: {"source": _lines_of_json(text)},
    "tiermem.dialogue.formats.agent_turns.transcript_lines": lambda text: {
        "source": _lines_of_json(text),
        "transcript": Transcript(),
    },
    "tiermem.dialogue.repository.repository_of": lambda text: {"directory": _path(text)},
    "tiermem.dialogue.agent_spaces.space_of_directory": lambda text: {
        "directory": _path(text),
        "spaces": (text,),
    },
    "tiermem.dialogue.repository.repository_root": lambda text: {"path": _path(text)},
    "tiermem.dialogue.ignored_paths.find_ignored_paths": lambda text: {
        "paths": [_path(line) for line in (text, *text.split("\n")[:2_000])],
        "patterns": ("*.pem", "private/*"),
    },
    "tiermem.trust.stamp_turns": lambda text: {
        "turns": [turn(text)],
        "trust": None,
        "levels": DEFAULT_TRUST,
    },
    "tiermem.trust.lower_stamps": lambda text: {
        "turns": [turn(text)],
        "trust": None,
        "levels": DEFAULT_TRUST,
    },
    "pagestore.pager.cut": lambda text: {"text": text, "limit": 100, "count": EstimateCounter().count},
    "tiermem.reading.quoting.closest_turns": lambda text: {
        "page": page(text),
        "answer": text[:LONGEST_ANSWER],
        "question": QUESTION,
    },
    "tiermem.reading.check.check": lambda text: {
        "question": QUESTION,
        "answer": text[:LONGEST_ANSWER],
        "cited": (source(text),),
    },
    "tiermem.reasoning.learned.pointing.point_at_words": lambda text: {
        "reader": _Reads(),
        "question": text[:LONGEST_QUESTION],
        "turns": [spoken(text)] * 7,
    },
    "tiermem.reasoning.learned.first_line.score_turns": lambda text: {
        "reader": _Reads(),
        "question": text[:LONGEST_QUESTION],
        "turns": [spoken(text)] * 7,
        "found": range(7),
    },
    "tiermem.reasoning.learned.first_line.read_signals": lambda text: {
        "question": text[:LONGEST_QUESTION],
        "turns": [spoken(text)] * 2,
        "found": (1.0, 2.0),
        "leads": (1.0, 2.0),
        "scores": (1.0, 2.0),
    },
    "tiermem.reading.ranking.turn_query": lambda text: {
        "question": Question(text[:LONGEST_QUESTION], SAID),
        "named": ("ann",),
        "rarity": {"dog": 3.0},
    },
    "tiermem.text.readings.plain_word": lambda text: {"match": re.match(r"(?s).*", text)},
    "tiermem.reasoning.learned.passage.heading": lambda text: {"turn": spoken(text)},
    "tiermem.reasoning.learned.passage.passage_of": lambda text: {
        "question": text[:LONGEST_QUESTION],
        "turns": [spoken(text)],
    },
    "tiermem.reasoning.learned.pieces.encode": lambda text: {
        "tokenizer": splitting(),
        "first": text,
        "second": text,
    },
    **dict.fromkeys(
        ("tiermem.proof.date_parts.event_dates", "tiermem.proof.date_parts.without_parts"),
        lambda text: {"text": text, "found": resolve_dates(text, SAID, durations=True)},
    ),
    "tiermem.proof.grade.grade": lambda text: {
        "answer": f"Ann has 2 dogs and 9 cats. {text}"[:LONGEST_ANSWER],
        "cited": (source(text), source("Ann has 3 dogs.")),
        "question": QUESTION,
    },
    "tiermem.proof.match.find_items": lambda text: {
        "answer": f"Ann has 2 dogs and 9 cats. {text}"[:LONGEST_ANSWER],
        "sentences": read_sentences((source(text), source("Ann has 3 dogs."))),
        "question": QUESTION,
    },
    "tiermem.proof.cautions.find_cautions": lambda text: {
        "answer": f"Ann has 2 dogs. {text}"[:LONGEST_ANSWER],
        "match": find_items(
            f"Ann has 2 dogs. {text}"[:LONGEST_ANSWER], read_sentences((source(text),)), QUESTION
        ),
        "question": QUESTION,
    },
    "tiermem.proof.sentences.units_after": lambda text: {
        "text": text,
        "tokens": read_tokens(text),
        "at": 0,
    },
    "tiermem.proof.unsupported.unsupported_words": lambda text: {
        "text": text,
        "supported": {"dog"},
        "is_dated": False,
    },
    "tiermem.dialogue.formats.tags.tagged_parts": lambda text: {
        "text": "".join(f"<b>{text[at : at + 40]}" for at in range(0, len(text), 40)),
        "opening": re.compile(r"<\w+>"),
    },
    "tiermem.salience.attribute.credit_shares": lambda text: {
        "cited": [UnitId("u1:x")],
        "in_view": {UnitId("u1:y"): text},
        "output": text,
    },
}
"""Functions that need arguments of their own."""


def arguments(name: str, function: Callable[..., Any], text: str) -> dict[str, Any]:
    """Arguments made from the text; `KeyError` names the parameter that nothing is known to give for."""
    if name in OWN:
        return OWN[name](text)
    given = {}
    for parameter in inspect.signature(inspect.unwrap(function)).parameters.values():
        if parameter.default is not parameter.empty:
            continue
        annotation = str(parameter.annotation)
        if annotation not in MADE:
            raise KeyError(
                f"{name} needs an example of arguments: say in MADE what to give for {annotation!r}, "
                f"or in OWN what to give for {parameter.name!r}"
            )
        bounded = text[:LONGEST_QUESTION] if parameter.name in ("question", "query") else text
        given[parameter.name] = MADE[annotation](bounded)
    return given


REFUSES = {"tiermem.dialogue": TierMemError, "pagestore.rendering": ValueError}
"""Where a text may be no text of the kind that is read, and the error that says so."""


def called(name: str, function: Callable[..., Any], given: dict[str, Any]) -> None:
    """Call it and take all it gives. What it refuses, it must refuse as quickly."""
    with suppress(*(error for start, error in REFUSES.items() if name.startswith(start))):
        found = function(**given)
        if inspect.iscoroutine(found):
            found = asyncio.run(found)
        if isinstance(found, Iterator):
            for _ in found:
                pass


def measure_growth(name: str, function: Callable[..., Any], kind: str, size: int) -> float | None:
    """Return the factor by which its time grows with a text of this kind, if too large. See `growth`."""

    def prepared(size: int) -> dict[str, Any]:
        return arguments(name, function, KINDS[kind].of(size))

    return growth(prepared, lambda given: called(name, function, given), size)
