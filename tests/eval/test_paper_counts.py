"""The paper's own counts through our formulas and tables: they give the rates the paper prints.

*From Lossy to Verified*, LoCoMo, 1,540 questions. Table 14 splits the 601 questions its router escalates
by what both paths would answer and by the final verdict; Table 13 the 540 of GPT-4.1-mini. The 237 hard
questions are printed nowhere: they follow from 170 caught at a recall of 71.7 %, and from 181 at 76.4 %.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from eval.metrics.routing import counterfactual, escalation, router_errors
from eval.records import Begun, Epoch, Record
from eval.report import answers, epochs
from eval.report.values import Table
from eval.types import CaseId, Consolidated, Grade, QuestionId, Reply, Result
from tiermem.model import StepUsage, Usage

ASKED = 1540
HARD = 237
OURS = {"rr": (305, 8), "rw": (13, 13), "wr": (153, 17), "ww": (20, 72)}
"""Table 14: summaries, then pages, right or wrong; how many came out right and wrong."""
LLM = {"rr": (225, 15), "rw": (13, 20), "wr": (169, 12), "ww": (14, 72)}
"""Table 13."""
CORRECT = 1311
"""Overall accuracy .851 of 1,540, to the nearest question."""
_S_IN, _S_OUT, _R_IN, _R_OUT = 847.5, 97.8, 8875.1, 724.0
"""Table 12, Linked: tokens by route."""

Question = tuple[bool, bool, bool, bool]
"""Escalated; right from summaries, from pages, in the end."""


def questions(cells: dict[str, tuple[int, int]]) -> list[Question]:
    """All 1,540: the cells of a table, then those not escalated, of which so many are hard that 237 are."""
    found = [
        (True, cell[0] == "r", cell[1] == "r", right)
        for cell, counts in cells.items()
        for right, count in zip((True, False), counts, strict=True)
        for _ in range(count)
    ]
    missed = HARD - sum(cells["wr"])
    right = CORRECT - sum(counts[0] for counts in cells.values())
    rest = ASKED - len(found)
    found += [(False, False, True, False)] * missed
    found += [(False, True, True, True)] * right
    return found + [(False, False, False, False)] * (rest - missed - right)


def ids(cells: dict[str, tuple[int, int]], at: int) -> dict[QuestionId, bool | None]:
    return {QuestionId(str(number)): one[at] for number, one in enumerate(questions(cells))}


def escalated(cells: dict[str, tuple[int, int]]) -> set[QuestionId]:
    return {question for question, yes in ids(cells, 0).items() if yes}


@pytest.mark.parametrize(
    ("cells", "r_rate", "recall", "f1"), [(OURS, 0.390, 0.717, 0.406), (LLM, 0.351, 0.764, 0.465)]
)
def test_table_3(cells: dict[str, tuple[int, int]], r_rate: float, recall: float, f1: float) -> None:
    found = escalation(escalated(cells), ids(cells, 1), ids(cells, 2))
    assert (found.questions, found.hard) == (ASKED, HARD)
    assert found.rate == pytest.approx(r_rate, abs=5e-4)
    assert found.recall == pytest.approx(recall, abs=6e-4)
    assert found.f1 == pytest.approx(f1, abs=9e-4)  # 46.59 is printed as 46.5


@pytest.mark.parametrize(
    ("cells", "repair", "regress", "right"),
    [(OURS, 0.649, 0.077, (491, 601)), (LLM, 0.678, 0.121, (421, 540))],
)
def test_tables_13_and_14(
    cells: dict[str, tuple[int, int]], repair: float, regress: float, right: tuple[int, int]
) -> None:
    found = counterfactual(escalated(cells), ids(cells, 1), ids(cells, 2), ids(cells, 3))
    assert (found.total.right, found.total.count) == right
    assert found.repair_rate == pytest.approx(repair, abs=5e-4)
    assert found.regress_rate == pytest.approx(regress, abs=5e-4)


def test_table_8() -> None:
    """240 escalated and still wrong, 148 false cache hits, 43 else: 55.7, 34.3 and 10.0 % of 431."""
    parts = [(True, False, False)] * 240 + [(False, True, False)] * 148 + [(False, False, False)] * 43
    parts += [(True, True, True)] * 5
    numbered = {QuestionId(str(number)): part for number, part in enumerate(parts)}
    found = router_errors(
        {question for question, part in numbered.items() if part[0]},
        dict.fromkeys(numbered, False),
        {question: part[1] for question, part in numbered.items()},
        {question: part[2] for question, part in numbered.items()},
    )
    assert (found.errors, found.repaired) == (431, 5)
    counts = (found.still_wrong, found.false_hits, found.beyond)
    assert counts == (240, 148, 43)
    assert [round(100 * (found.share(count) or 0), 1) for count in counts] == [55.7, 34.3, 10.0]


def test_what_is_undecided_is_in_no_error() -> None:
    one, two = QuestionId("1"), QuestionId("2")
    found = router_errors({one}, {one: False, two: False}, {one: True, two: None}, {one: None, two: False})
    assert (found.errors, found.undecided) == (0, 2)


def result(system: str, number: int, *, right: bool, escalated: bool, epoch: int = 1) -> Result:
    read, written = (_R_IN, _R_OUT) if escalated else (_S_IN, _S_OUT)
    usage = Usage(input_tokens=round(10 * read), output_tokens=round(10 * written), calls=1)
    reply = Reply(
        text="x",
        route="ESCALATE" if escalated else "ANSWER",
        decided="ESCALATE" if escalated else "ANSWER",
        way="researched" if escalated else "recall",
        depth=1 + (number % 100 < 38) if escalated else 0,
        hits={"unit": 5, "linked page": 2, "search": 1},
        usage=usage,
        steps=(StepUsage(step="compose", usage=usage),),
    )
    return Result(
        system=system,
        case=CaseId(str(number % 10)),
        question=QuestionId(str(number)),
        category="all",
        text="?",
        gold=("x",),
        answerable=True,
        flags=(),
        evidence=(),
        epoch=epoch,
        attempt=1,
        reply=reply,
        grade=Grade(f1=0.0, exact=False, soft=False, correct=right, judge="the paper's"),
        seconds=1.0,
    )


def run() -> Iterator[Result]:
    for number, (routed, summary, raw, actual) in enumerate(questions(OURS)):
        yield result("tiermem", number, right=actual, escalated=routed)
        yield result("tiermem:summary", number, right=summary, escalated=False)
        yield result("tiermem:raw", number, right=raw, escalated=True)


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    return {table.title: table for table in answers.tables(list(run()))}


def row(tables: dict[str, Table], layout: str, first: str) -> dict[str, str]:
    (table,) = [table for title, table in tables.items() if layout in title]
    (found,) = [cells for cells in table.rows if cells[0].endswith(first)]
    return dict(zip(table.columns, found, strict=True))


def test_the_report_prints_what_the_paper_prints(tables: dict[str, Table]) -> None:
    routing = row(tables, "Table 3", "tiermem")
    assert (routing["R-rate %"], routing["Recall (hard) %"], routing["F1 %"]) == ("39.0", "71.7", "40.6")
    assert (routing["Overall acc."], routing["hard questions"]) == (".851", "237 of 1540")
    links = row(tables, "Table 4", ": tiermem")
    assert (links["Acc. %"], links["R-rate %"], links["Acc.@R %"]) == ("85.1", "39.0", "81.7")
    assert links["Tok in / Q"] == "39,803"  # tenths of tokens: 3,980 printed
    matrix = row(tables, "Table 13", "Total matched (R set)")
    assert matrix == {
        "Category": "Total matched (R set)",
        "Count": "601",
        "Decomposition (actual)": "491 correct / 110 wrong",
    }
    assert row(tables, "depth", "tiermem")["deepest"] == "2"
    assert 1.3 < float(row(tables, "depth", "tiermem")["depth"]) < 1.5


def test_a_decision_is_told_apart_from_the_way_taken() -> None:
    """Answered from summaries as decided, then searched after all: ANSWER in Table 3, researched by way."""
    held, turned, wide = (result("tiermem", number, right=True, escalated=False) for number in range(3))
    turned = replace(turned, reply=replace(turned.reply, route="ESCALATE", way="researched", depth=3))
    wide = replace(wide, reply=replace(wide.reply, way="widened"))
    found = {table.title: table for table in answers.tables([held, turned, wide])}
    assert [cells[1:3] for cells in found["By route as decided (layout of Table 12)"].rows] == [
        ("ANSWER", "3")
    ]
    assert [cells[1:3] for cells in found["By the way the answer came"].rows] == [
        ("recall", "1"),
        ("widened", "1"),
        ("researched", "1"),
    ]
    assert answers.numbers([held, turned, wide])["tiermem"]["r_rate"] == 0
    assert answers.numbers([held, turned, wide])["tiermem"]["depth"] == 3


TABLE_5 = [(1, 932, 819, "87.9", 720), (2, 1125, 985, "87.6", 486), (3, 1245, 1083, "87.0", 317)]


def test_table_5() -> None:
    """S-Traffic and S-Correct of the no-recall epochs give the printed S-Acc. and gains."""
    records: list[Record] = [
        Begun(system="tiermem:no-recall", case=CaseId("0"), attempt=1, seconds=0.0),
    ]
    for epoch, traffic, correct, _, added in TABLE_5:
        records += [
            result("tiermem:no-recall", n, right=n < correct, escalated=n >= traffic, epoch=epoch)
            for n in range(ASKED)
        ]
        consolidated = Consolidated(added=added, updated=0, skipped=0, pending=0, units=0)
        records.append(
            Epoch(
                system="tiermem:no-recall", case=CaseId("0"), epoch=epoch, attempt=1, before=0,
                consolidated=consolidated, seconds=0.0,
            )
        )  # fmt: skip
    (table,) = epochs.tables(records)
    told = [dict(zip(table.columns, cells, strict=True)) for cells in table.rows]
    assert [one["S-Traffic"] for one in told] == ["932", "1125", "1245"]
    assert [one["S-Acc. %"] for one in told] == [accuracy for *_, accuracy, _ in TABLE_5]
    assert [one["S-Correct"] for one in told] == ["819", "985 (+166)", "1083 (+98)"]
    assert [one["write-backs / Q"] for one in told] == ["0.47", "0.32", "0.21"]
    assert told[0]["Tok in"] == "40,168"
    assert told[0]["recall / widened / researched"] == "932 / 0 / 608"
