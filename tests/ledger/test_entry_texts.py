"""Which strings of an entry are somebody's words: every field of every kind is looked at here."""

from dataclasses import is_dataclass, replace
from typing import get_args, get_type_hints

from tests.ledger.building import answered, distilled, finding, unit
from tiermem.ledger import AnsweredEntry, entry_texts
from tiermem.ledger.entry_texts import fields_of
from tiermem.ledger.kinds import KINDS
from tiermem.model import Round, Search

WORDS = {
    "Answer": {"text", "missing", "unsupported", "explanation"},
    "CitedSentence": {"text", "speaker"},
    "Check": {"unsupported", "reason"},
    "Citation": {"claim", "quote", "speaker"},
    "Decision": {"reason"},
    "Degradation": {"reason"},
    "Derivation": {"value"},
    "DistilledEntry": {"omissions"},
    "Erasing": {"reason"},
    "Evidence": {"text", "quote", "speaker"},
    "Finding": {"question"},
    "LinkedFact": {"claim", "quotes", "reason", "scene"},
    "Redistilled": {"hints", "omissions"},
    "Rejected": {"claim", "quotes", "reason"},
    "ReinstatedEntry": {"reason"},
    "RetiredEntry": {"reason"},
    "SetAside": {"reason"},
    "Round": {"coverage", "stop"},
    "Search": {"query"},
    "SummaryUnit": {"text", "scene", "paraphrase"},
    "Term": {"text"},
    "ChatTitle": {"title"},
    "Trace": {"question"},
    "TurnFilter": {"speaker", "role"},
    "Wanted": {"key", "value"},
    "WriteBack": {"reason"},
}
"""Every field of an entry, or of a value in one, that holds a person's or a model's words. Who adds one to a
value says here that it does, or declares it `Named`; a kind that is added says it by that alone."""


def types_in(hint: object) -> set[type]:
    inner = set().union(*(types_in(arg) for arg in get_args(hint) if not isinstance(arg, str)))
    return inner | ({hint} if isinstance(hint, type) else set())


def classes() -> set[type]:
    """Every class that entries are made of."""
    found: set[type] = set()
    new: set[type] = {kind.entry for kind in KINDS.values()}
    while new:
        found |= new
        hints = [hint for kind in new for hint in get_type_hints(kind).values()]
        new = {part for hint in hints for part in types_in(hint) if is_dataclass(part)} - found
    return found


def test_every_string_of_every_kind_is_known_for_words_or_for_a_name_that_code_gives() -> None:
    kinds = {kind.entry for kind in KINDS.values()}
    held = {kind.__name__: set(fields_of(kind).words) for kind in classes() if fields_of(kind).words}
    later = {kind.__name__ for kind in kinds} - WORDS.keys()
    assert {name: words for name, words in held.items() if name not in later} == WORDS


def test_what_is_told_is_words_alone_wherever_they_stand() -> None:
    one = finding("f1", claim="Ann likes tea.")
    entry = answered("a1", one)
    search = Search(kind="KEYWORD", query="tea in 1234")
    assert list(entry_texts(entry)).count("Ann likes tea.") == 1
    told = {
        *entry_texts(entry),
        *entry_texts(distilled("p1234", unit("u1", text="1,450 euros"), omissions=["77"])),
    }
    assert {"I like tea", "Tea.", "nothing recalled", "Ann hates tea.", "1,450 euros", "77"} <= told
    assert not {"rules", "distil@1", "p1234", "u1", "s1", "gate", "ESCALATE", "stated"} & told
    assert replace(search).query in entry_texts(_with(entry, search))


def _with(entry: AnsweredEntry, search: Search) -> AnsweredEntry:
    looked = Round(number=1, searches=(search,), pages=(), facts=0, rejected=0, coverage="")
    trace = replace(entry.answer.trace, rounds=(looked,))
    return replace(entry, answer=replace(entry.answer, trace=trace))
