"""The past of a log reads as the log read then."""

from itertools import count, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagestore import LogOptions, MemoryLog, PageLog, SessionId, Turn
from pagestore.errors import PageNotFound, ReadOnly, RecordNotFound
from pagestore.prefix import LogPrefix

actions = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from(["a", "b"]), st.integers(1, 40)),
        st.tuples(st.just("seal"), st.sampled_from(["a", "b"]), st.just(0)),
        st.tuples(st.just("note"), st.just(""), st.just(0)),
    ),
    max_size=25,
)


def seen(log: PageLog) -> dict[str, object]:
    """Everything a reader of a log sees, but for the tokens of open pages."""
    threads = product(log.sessions(), (None, "x"))
    opened = [page for thread in threads if (page := log.open_page(*thread)) is not None]
    assert {page.id for page in opened} == {info.id for info in log.filling()}
    return {
        "head": log.head,
        "sessions": log.sessions(),
        "pages": tuple(log.pages()),
        "text": [log.page(info.id) for info in log.pages()],
        "open": [(page.id, page.text, page.lines, page.sealed_at) for page in opened],
        "by open id": [log.page(page.id).text for page in opened],
        "located": log.locate_turns(range(-1, log.head + 2)),
        "records": [(record.seq, record.kind) for record in log.records()],
    }


@settings(max_examples=60)
@given(first=actions, then=actions)
def test_a_prefix_reads_as_the_log_read_then(
    first: list[tuple[str, str, int]], then: list[tuple[str, str, int]]
) -> None:
    log, numbers = MemoryLog(options=LogOptions(page_tokens=60)), count()

    def do(what: str, session: str, length: int) -> None:
        if what == "say":
            words = f"{next(numbers)} " + "word " * length
            log.append(SessionId(session), [Turn(speaker="Ann", text=words, agent=[None, "x"][length % 2])])
        elif what == "seal":
            log.seal(SessionId(session))
        else:
            log.record("note", {})

    for step in first:
        do(*step)
    before = seen(log)
    mark = log.record("mark", {})
    for step in then:
        do(*step)
    assert seen(LogPrefix(log, mark.seq)) == before


def test_a_prefix_knows_nothing_later_and_writes_nothing() -> None:
    log = MemoryLog()
    log.append(SessionId("a"), [Turn(speaker="Ann", text="One.")])
    mark = log.record("mark", {})
    log.append(SessionId("b"), [Turn(speaker="Ann", text="Two.")])
    log.seal()
    past = LogPrefix(log, mark.seq)
    with pytest.raises(RecordNotFound):
        past.read(mark.seq)
    for info in log.pages():
        with pytest.raises(PageNotFound):
            past.page(info.id)
    with pytest.raises(ReadOnly):
        past.seal()
    with pytest.raises(ReadOnly):
        past.record("note", {})
    with pytest.raises(ReadOnly):
        past.append(SessionId("a"), [])
    past.close()
    assert len(log.pages()) == 2


def test_a_prefix_ends_before_its_number_whatever_stands_there() -> None:
    log = MemoryLog()
    turns = [Turn(speaker="Ann", text=text) for text in ("One.", "Two.")]
    seqs = log.append(SessionId("a"), turns).seqs
    open_page = LogPrefix(log, seqs[1]).open_page(SessionId("a"))
    assert open_page is not None
    assert [line.turn for line in open_page.lines] == turns[:1]
    log.seal()
    (info,) = log.pages()
    before = LogPrefix(log, info.seq)
    assert before.pages() == ()
    with pytest.raises(PageNotFound):
        before.page(info.id)
    assert LogPrefix(log, info.seq + 1).pages() == (info,)
    mark = log.record("mark", {})
    assert mark.seq not in [record.seq for record in LogPrefix(log, mark.seq).records()]
    assert mark.seq in [record.seq for record in LogPrefix(log, mark.seq + 1).records()]
