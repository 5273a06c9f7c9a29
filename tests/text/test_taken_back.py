"""Pages without the words that were taken back: those are gone, all others stand where they stood."""

from hypothesis import given
from hypothesis import strategies as st

from pagestore import Page, Span, Turn
from tests.text.dialogue import page_of
from tiermem.model import Claim, LinkedFact, TakenBack, UnitId
from tiermem.proof import link
from tiermem.text.taken_back import kept_spans, mark_taken_back, readable, remaining, without

SAID = "I keep a hen called Berta, a tall grey horse, and a goat that bites."


def page(*texts: str) -> Page:
    return page_of([Turn(speaker="Ann", text=text) for text in texts])


def taken(page: Page, words: str, reason: str = "no") -> TakenBack:
    start = page.text.index(words)
    return at(page, start, start + len(words), reason)


def at(page: Page, start: int, end: int, reason: str = "no") -> TakenBack:
    return TakenBack(span=Span(page_id=page.id, start=start, end=end), reason=reason, unit_id=UnitId("u1:x"))


def test_a_turn_is_left_in_stretches_and_no_quote_reaches_over_what_was_taken_back() -> None:
    whole = page(SAID)
    left, line = without(whole, [taken(whole, "a tall grey horse,")]), whole.lines[0]
    assert remaining(left, line.body, line.end) == "I keep a hen called Berta, … and a goat that bites."
    assert [whole.words(span) for span in kept_spans(left, line.body, line.end)] == [
        "I keep a hen called Berta,",
        "and a goat that bites.",
    ]
    assert left.lines[0].turn is not None
    assert left.lines[0].turn.text == "I keep a hen called Berta, … and a goat that bites."
    for quote in ("a hen called Berta, and a goat", "a hen called Berta and a tall grey horse, and a goat"):
        found = link(Claim(text=f"Ann: {quote}", quotes=(quote,)), [left])
        assert not isinstance(found, LinkedFact) or not touches(found, whole, "a tall grey horse")
    over = link(Claim(text="Ann: I keep a hen.", quotes=(remaining(left, line.body, line.end),)), [left])
    assert isinstance(over, LinkedFact)
    assert [whole.words(span) for span in over.spans] == [
        "I keep a hen called Berta,",
        "and a goat that bites.",
    ]


def touches(fact: LinkedFact, page: Page, words: str) -> bool:
    start = page.text.index(words)
    return any(span.start < start + len(words) and start < span.end for span in fact.spans)


def test_a_turn_of_which_no_word_is_left_is_withheld() -> None:
    whole = page("Berta!", SAID)
    left = without(whole, [taken(whole, "Berta!")])
    assert [line.turn is None for line in left.lines] == [True, False]
    assert "Berta!" not in left.text


def test_whoever_looks_at_the_page_is_told_the_reason_and_whoever_answers_is_not() -> None:
    whole = page(SAID)
    both = [taken(whole, "a tall grey horse", "sold"), taken(whole, "grey horse, and", "not hers")]
    left, line = without(whole, both), whole.lines[0]
    shown = "I keep a hen called Berta, [taken back: sold; not hers] a goat that bites."
    assert mark_taken_back(left, line.body, line.end, both) == shown
    assert readable(left.text).endswith("Ann: I keep a hen called Berta, […] a goat that bites.")


@given(
    texts=st.lists(st.text("ab ␡…\n\t1", max_size=12), min_size=1, max_size=4),
    cuts=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(1, 12)), max_size=4),
)
def test_every_word_is_either_taken_back_or_where_it_stood(
    texts: list[str], cuts: list[tuple[int, int, int]]
) -> None:
    whole = page(*texts)
    gone: set[int] = set()
    back = []
    for number, start, length in cuts:
        line = whole.lines[number % len(whole.lines)]
        first, last = min(line.body + start, line.end), min(line.body + start + length, line.end)
        if first < last:
            back.append(at(whole, first, last))
            gone.update(range(first, last))
    left = without(whole, back)
    assert len(left.text) == len(whole.text)
    for line in left.lines:
        words = {place for place in range(line.body, line.end) if whole.text[place].isalnum()}
        if line.turn is None:
            assert words <= gone
            continue
        spans = kept_spans(left, line.body, line.end)
        inside = {place for span in spans for place in range(span.start, span.end)}
        assert not inside & gone
        assert all(left.text[place] == whole.text[place] for place in inside)
        assert words - gone <= inside
    if not back:
        assert left == whole
