"""Whether a displayed turn shows the answer: by its words, by the calendar, or because it is the evidence."""

from datetime import datetime

import pytest

from eval.metrics.lines import holds_gold, shows_answer
from eval.records import Retrieved
from eval.report.retrieval import tables
from eval.types import CaseId, LabelledQuestion, Passage, QuestionId
from pagestore import SessionId, Turn

SAID_AT = datetime.fromisoformat("2023-05-08T13:56")


@pytest.mark.parametrize(
    ("text", "gold", "held"),
    [
        ("I went to Ljubljana by train.", "Ljubljana", True),
        ("We bought the red canoe.", "a red canoe", True),
        ("We bought a canoe that is red.", "red canoe", False),
        ("There were 24 of us.", "2", False),
        ("There were 2 of us.", "2", True),
        ("I saw her yesterday.", "7 May 2023", True),
        ("I saw her on 9 May.", "7 May 2023", False),
        ("I saw her yesterday.", "May 2023", True),
        ("I saw her last year.", "May 2023", False),
        ("Sie hat einen Dackel.", "Dackel", True),
        ("蛋糕是草莓味的。", "草莓味", True),
        ("蛋糕是香草味的。", "草莓味", False),
        ("Nothing at all.", "...", False),
        ("", "x", False),
    ],
)
def test_a_turn_holds_a_gold_answer_as_whole_words_or_by_the_calendar(
    text: str, gold: str, held: bool
) -> None:
    assert holds_gold(Turn(speaker="Ann", text=text, said_at=SAID_AT), gold) == held


def test_a_turn_of_the_evidence_shows_the_answer_whatever_its_words() -> None:
    places = [Passage(session=SessionId("s001"), start=at, end=at + 1) for at in range(2)]
    question = LabelledQuestion(
        id=QuestionId("q"), text="Who?", category="one", gold=("Zora",), evidence=(places[0],)
    )
    turn = Turn(speaker="Ann", text="She did.")
    assert [shows_answer(turn, place, question) for place in places] == [True, False]
    assert shows_answer(Turn(speaker="Ann", text="Zora did."), places[1], question)


def test_a_report_says_how_often_the_first_and_one_of_three_lines_show_the_answer() -> None:
    def record(number: int, *lines: bool) -> Retrieved:
        return Retrieved(
            system="ours", case=CaseId("c"), question=QuestionId(f"q{number}"), category="one", text="Who?",
            gold=("Zora",), answerable=number != 4, flags=(), rankings=(), evidence=(), shown=(), seconds=0.1,
            lines=lines,
        )  # fmt: skip

    asked = [(True, False, True), (False, True, False), (False, False), (False, False, False), (True,)]
    (table,) = tables([record(number, *lines) for number, lines in enumerate(asked)])
    assert table.title == "Lines that show the answer"
    ((name, questions, first, three),) = table.rows
    assert (name, questions) == ("ours", "4")
    assert first.startswith(".250")
    assert three.startswith(".500")
    assert tables([record(0)]) == ()
