"""Reports: the layouts of the paper's tables, pictures that are valid, a page that needs nothing else."""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import anyio
import pytest

from eval.folder import RunFolder
from eval.judge import ByWords
from eval.metrics.intervals import estimate
from eval.records import Begun, Ranking, Retrieved
from eval.report import Report, markdown, page, report, terminal
from eval.report.charts import HEIGHT, LETTER, Mark, lines, pareto, scatter, stacked
from eval.report.retrieval import tables
from eval.report.values import interval, number, quantile, share
from eval.runner import qa, replay, retrieval
from eval.types import Case, CaseId, Grade, LabelledQuestion, QuestionId, Reply
from tests.eval import tiny
from tiermem.model import Usage
from tiermem.reasoning import engine_named

MODES = ["tiermem", "tiermem:summary", "tiermem:raw", "tiermem:no-links", "bm25", "full"]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of one run of all modes; asked for once."""
    where = tmp_path_factory.mktemp("answers") / "run"
    folder = tiny.new_folder(where, "qa", MODES)
    anyio.run(qa, tiny.plan(folder, MODES), ByWords())
    return report(RunFolder.open(where))


def test_answers_come_in_the_layouts_of_the_paper(answers: Report) -> None:
    tables = {table.title: table for table in answers.tables}
    quality = tables["Answers: accuracy by category (layout of Tables 1 and 2)"]
    assert quality.columns[:3] == ("System", "fact", "Overall")
    assert [row[0] for row in quality.rows] == MODES
    assert any("no judge model" in note for note in quality.notes)
    for layout in ("Table 3", "Table 4", "Table 8", "Table 12", "Table 13"):
        assert any(f"(layout of {layout})" in title for title in tables)
    links = tables["Provenance links (layout of Table 4)"]
    assert [row[0].split(":")[0] for row in links.rows] == ["Raw-only", "No-Linked", "Linked (ours)"]


def test_abstaining_is_told_where_there_is_an_answer_and_where_there_is_none(answers: Report) -> None:
    (table,) = [table for table in answers.tables if table.title.startswith("Abstaining")]
    assert [(row[2], row[4]) for row in table.rows] == [("6", "2")] * len(MODES)
    full = answers.numbers["full"]["abstains"]
    assert f"{100 * full['unanswerable']:.1f}" == dict(zip(MODES, table.rows, strict=True))["full"][3]


def test_unanswerable_categories_stand_apart(answers: Report) -> None:
    found = answers
    assert all("adversarial" not in table.columns for table in found.tables)
    (apart,) = [table for table in found.tables if table.title.startswith("Set apart")]
    assert all(row[1].endswith("(2)") for row in apart.rows)
    assert found.numbers["bm25"]["questions"] == 6


class InBothStyles:
    """Strict where the words are not exact, generous always."""

    name = "both"

    async def grade(self, question: LabelledQuestion, reply: Reply) -> Grade:
        by_words = await ByWords().grade(question, reply)
        return replace(
            by_words, correct=by_words.exact, verdicts={"strict": by_words.exact, "generous": True}
        )


@pytest.mark.anyio
async def test_a_column_a_style_where_several_judged(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "qa", "qa", ["full"])
    await qa(tiny.plan(folder, ["full"]), InBothStyles())
    found = report(folder)
    quality = found.tables[0]
    at = quality.columns.index("Overall")
    assert quality.columns[at + 1 : at + 3] == ("strict", "generous")
    assert quality.rows[0][at + 2] == "1.000"
    assert quality.rows[0][at + 1] == share(found.numbers["full"]["accuracy"])
    assert found.numbers["full"]["accuracy_by_style"]["generous"] == 1.0
    assert "Judged strict and generous; all other figures are by strict." in quality.notes
    folder = tiny.new_folder(tmp_path / "replay", "replay", ["tiermem"])
    await replay(tiny.plan(folder, ["tiermem"]), InBothStyles(), epochs=1)
    (table,) = report(folder).tables
    assert table.columns[3:5] == ("strict", "generous")


def test_no_column_of_styles_where_words_judged(answers: Report) -> None:
    assert "generous" not in answers.tables[0].columns
    assert answers.numbers["full"]["accuracy_by_style"] == {}


@pytest.mark.anyio
async def test_a_replay_comes_in_the_layout_of_table_5(tmp_path: Path) -> None:
    systems = ["tiermem:no-recall", "tiermem"]
    folder = tiny.new_folder(tmp_path, "replay", systems)
    await replay(tiny.plan(folder, systems), ByWords(), epochs=2)
    (table,) = report(folder).tables
    assert [row[:2] for row in table.rows] == [
        ("tiermem:no-recall (no-recall)", "E1"),
        ("tiermem:no-recall (no-recall)", "E2"),
        ("tiermem (retrieve-and-edit)", "E1"),
        ("tiermem (retrieve-and-edit)", "E2"),
    ]
    assert table.columns[3:6] == ("S-Traffic", "S-Acc. %", "S-Correct")
    assert re.search(r"\([+-]\d+\)", table.rows[1][5])


@pytest.mark.anyio
async def test_retrieval_tables_name_every_cutoff_and_its_tokens(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path, "retrieval", ["tiermem", "bm25"])
    await retrieval(tiny.plan(folder, ["tiermem", "bm25"]))
    found = report(folder)
    every = [table for table in found.tables if "every measure" in table.title]
    assert len(every) == 3
    for table in every:
        assert table.columns[2:] == ("@1", "@3", "@5", "@10", "@20")
        assert {row[1] for row in table.rows} == {"recall any", "recall all", "recall", "NDCG any", "tokens"}
    differences = [table for table in found.tables if "less each other" in table.title]
    assert [row[0] for row in differences[0].rows] == ["bm25"]
    assert len(found.charts) == 3


def retrieved(system: str, case: str, number: int, *, hits: tuple[int, ...]) -> Retrieved:
    ranking = Ranking(level="turn", labels="evidence", targets=1, copies=1, hits=hits, tokens=(3, 9))
    return Retrieved(
        system=system, case=CaseId(case), question=QuestionId(f"q{number}"), category="all", text="?",
        gold=("yes",), answerable=True, flags=(), rankings=(ranking,), evidence=(), shown=(), seconds=0.1,
    )  # fmt: skip


@pytest.mark.parametrize("cases", [1, 10])
def test_a_difference_within_one_conversation_has_the_interval_of_its_questions(cases: int) -> None:
    """Four questions of ten are won and two lost: no difference that is sure."""
    found, missed = (0, -1), (-1, 0)
    ours = [found] * 4 + [missed] * 2 + [found] * 4
    other = [missed] * 4 + [found] * 2 + [found] * 4
    records = [
        retrieved(system, f"c{number % cases}", number, hits=hits)
        for system, rankings in (("tiermem", ours), ("bm25", other))
        for number, hits in enumerate(rankings)
    ]
    (table,) = [one for one in tables(records) if "less each other" in one.title]
    mean, low, high = map(float, re.findall(r"[+-]\d\.\d+", table.rows[0][1]))
    assert mean == 0.2
    assert low < 0 < high
    assert not table.rows[0][1].endswith("*")


def test_a_report_says_the_limit_and_that_flaws_are_of_the_whole_file(tmp_path: Path) -> None:
    kept = replace(tiny.manifest("qa"), limit=2, defects={"no evidence": 4}, sample={"questions": 5})
    facts = report(RunFolder.create(tmp_path / "run", kept)).facts
    assert facts["Sample"] == "limit=2, questions=5"
    assert facts["Flaws of the whole file"] == "no evidence 4"


@pytest.mark.anyio
async def test_systems_that_answered_different_questions_are_called_incomparable(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path, "retrieval", ["bm25", "tiermem"])
    await retrieval(tiny.plan(folder, ["bm25"]))
    await retrieval(tiny.plan(folder, ["tiermem"], dataset=tiny.Tiny("one")))
    assert any("NOT COMPARABLE" in note for note in report(folder).tables[0].notes)


@pytest.mark.anyio
async def test_the_page_needs_nothing_else_and_its_words_cannot_break_out(tmp_path: Path) -> None:
    class Hostile(tiny.Tiny):
        def cases(self) -> Iterator[Case]:
            evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
            for case in super().cases():
                yield replace(case, questions=(replace(case.questions[0], text=evil),))

    folder = tiny.new_folder(tmp_path, "qa", ["bm25"])
    await qa(tiny.plan(folder, dataset=Hostile("one")), ByWords())
    text = page([report(folder)])
    assert "<script>alert" not in text
    assert "<img" not in text
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    outside = re.findall(r"""(?:src|href)=["']?([^"'> ]+)""", text.replace(data, ""))
    assert all(address.startswith("#") for address in outside)
    assert json.loads(data)[0]["text"].startswith("</script>")


def test_markdown_and_terminal_hold_every_table(answers: Report) -> None:
    found = answers
    text = markdown([found])
    assert all(f"## {table.title}" in text for table in found.tables)
    assert len(terminal(found, full=True)) > len(terminal(found))


def test_pictures_are_valid_and_name_every_series() -> None:
    drawn = [
        lines(
            {"a<b": [Mark(1, 0.2), Mark(5, 0.9)], "c": [Mark(1, 0.1), Mark(5, 0.1)]},
            x="k",
            y="recall",
            high=1.0,
        ),
        scatter({"a<b": Mark(100, 0.5), "c": Mark(10_000, 0.5), "d": Mark(1, 0.0)}, x="tokens", y="accuracy"),
        stacked({"a<b": [3, 1], "c": [0, 0]}, ["right", "wrong"], unit="questions"),
        lines({}, x="k", y="y"),
        scatter({"only": Mark(7, 0.3)}, x="x", y="y"),
    ]
    for svg in drawn:
        ElementTree.fromstring(svg)  # noqa: S314  (our own SVG)
    assert all("a<b" in html.unescape(svg) for svg in drawn[:3])


def test_no_label_stands_on_another_or_on_a_dot() -> None:
    close = {f"system {n}": Mark(10_000.0 + 40 * n, 0.5 + 0.002 * (n % 3)) for n in range(8)}
    drawn = scatter(close, x="tokens", y="accuracy")
    dots = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    labels = [
        (float(x), float(y), text)
        for x, y, text in re.findall(r'<text x="([\d.]+)" y="([\d.]+)">(system \d)</text>', drawn)
    ]
    assert len(labels) == len(dots) == len(close)
    for (x, y, text), (other_x, other_y, _) in combinations(labels, 2):
        assert abs(y - other_y) >= 10 or abs(x - other_x) >= LETTER * len(text)
    for x, y, text in labels:
        assert not any(x < dot < x + LETTER * len(text) and y - 10 < beside < y for dot, beside in dots)


BOTTOM = HEIGHT - 46
"""Where what goes up begins, in a picture."""


@pytest.mark.parametrize(
    "drawn",
    [
        lines({"a": [Mark(1, 0.7), Mark(5, 0.9)]}, x="k", y="recall"),
        scatter({"a": Mark(100, 0.7), "b": Mark(9, 0.9)}, x="tokens (log)", y="accuracy"),
    ],
)
def test_what_goes_up_begins_at_zero(drawn: str) -> None:
    assert f'y="{BOTTOM + 4:.1f}" text-anchor="end">0</text>' in drawn
    heights = [BOTTOM - float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)" r="[35]', drawn)]
    assert heights[1] / heights[0] == pytest.approx(0.9 / 0.7, rel=0.01)


def test_what_is_below_zero_has_room_below_it() -> None:
    drawn = lines({"a": [Mark(1, -3.0), Mark(2, 5.0)]}, x="k", y="gain")
    lowest = max(float(y) for y in re.findall(r'cy="([\d.]+)" r="3.5"', drawn))
    assert lowest < BOTTOM
    assert ">-2</text>" in drawn


def test_intervals_are_drawn_and_have_room() -> None:
    point = {"a": Mark(100, 0.5, 0.25, 1.0)}
    (low, high) = re.findall(
        r'class="interval" .* y1="([\d.]+)" y2="([\d.]+)"', scatter(point, x="x", y="y")
    )[0]
    assert BOTTOM > float(low) > float(high) >= 14
    assert (BOTTOM - float(high)) / (BOTTOM - float(low)) == pytest.approx(4, rel=0.01)
    banded = lines({"a": [Mark(1, 0.5, 0.4, 0.6), Mark(2, 0.6, 0.5, 0.7)]}, x="k", y="recall")
    ((corners,),) = [re.findall(r'<polygon class="band" points="([^"]+)"', banded)]
    assert len(corners.split()) == 4
    assert "band" not in lines({"a": [Mark(1, 0.5), Mark(2, 0.6)]}, x="k", y="recall")


def test_the_front_joins_what_nobody_beats() -> None:
    points = [Mark(100, 0.5), Mark(50, 0.6), Mark(200, 0.7), Mark(300, 0.7)]
    assert pareto(points) == [(50, 0.6), (200, 0.7)]


def test_numbers_read_as_in_the_paper() -> None:
    assert (share(0.851), share(1.0), share(None), number(7398.4)) == (".851", "1.000", "–", "7,398")
    assert interval(estimate([1.0, 0.0], ["one", "one"])) == ".500"
    assert interval(estimate([1.0, 1.0], ["one", "two"])) == "1.000 [1.00, 1.00]"
    assert (quantile([3.0, 1.0, 2.0], 0.5), quantile([], 0.5)) == (2.0, None)


def test_lines_are_judged_where_no_answer_is_worded(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["tiermem"])
    local = engine_named("local")
    anyio.run(qa, tiny.plan(folder, ["tiermem"], given=tiny.setup(lambda _: local)), ByWords())
    made = report(RunFolder.open(tmp_path / "run"))
    table, writing = made.tables
    assert table.title == "Lines that show the answer"
    assert writing.title.startswith("What writing costs")
    assert made.charts == ()
    assert made.facts["Judge"] == "none: no answer was worded"
    assert all(one["replies"][0]["verdict"] for one in made.questions)
    assert made.numbers["tiermem"].keys().isdisjoint({"accuracy", "abstains", "tokens_router"})
    assert made.numbers["tiermem"]["first_line"] == 1
    ((name, asked, first, three, likely, *_),) = table.rows
    assert (name, asked, likely) == ("tiermem", "6", ".000")  # with word hashes no probability is known
    assert first.startswith("1.000")
    assert three.startswith("1.000")


def test_tables_of_answers_leave_out_systems_that_show_lines(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["tiermem:summary", "tiermem"])
    local = engine_named("local")
    anyio.run(qa, tiny.plan(folder, ["tiermem:summary"]), ByWords())
    anyio.run(qa, tiny.plan(folder, ["tiermem"], given=tiny.setup(lambda _: local)), ByWords())
    made = report(folder)
    first = {table.title: [row[0] for row in table.rows] for table in made.tables}
    assert first.pop("Lines that show the answer") == ["tiermem"]
    assert first.pop("What writing costs, a conversation on average") == ["tiermem:summary", "tiermem"]
    assert set(map(tuple, first.values())) == {("tiermem:summary",)}
    assert made.facts["Judge"] == "words"


def test_writing_costs_what_the_newest_attempt_of_each_conversation_did(tmp_path: Path) -> None:
    folder = tiny.new_folder(tmp_path / "run", "qa", ["tiermem"])
    local = engine_named("local")
    anyio.run(qa, tiny.plan(folder, ["tiermem"], given=tiny.setup(lambda _: local)), ByWords())
    cases = {one.case for one in folder.records() if isinstance(one, Begun)}
    for attempt, tokens in ((2, 900), (3, 100)):
        usage = Usage(calls=2, input_tokens=tokens, output_tokens=30)
        folder.append(
            [Begun(system="tiermem", case=case, attempt=attempt, seconds=2.0, usage=usage) for case in cases]
        )
    (table,) = [one for one in report(folder).tables if "What writing costs" in one.title]
    assert table.rows == (("tiermem", str(len(cases)), "100", "30", "0", "2", "2.0"),)


def test_no_lines_are_judged_where_answers_are_worded(answers: Report) -> None:
    assert not [table for table in answers.tables if table.title == "Lines that show the answer"]
