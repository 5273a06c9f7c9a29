"""From a kept run to data: labels, parts by conversation, chats; nothing of the test is elsewhere."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from eval.folder import RunFolder
from eval.judge import ByWords
from eval.research.training.data.splits import Leak
from eval.research.training.router.outcomes import Pair, outcomes
from eval.research.training.router.policy import read_policy, write_policy
from eval.research.training.router.router_reward import Choice, RouterReward, choice_in
from eval.research.training.router.rows import (
    Origin,
    Row,
    Shares,
    by_conversation,
    check_parts,
    grpo,
    label_of,
    read_rows,
    sft,
    write_rows,
)
from eval.research.training.router.small import compared, learned_policy
from eval.runner import qa
from eval.types import CaseId, QuestionId
from pagestore import PageId, Span
from tests.eval import tiny
from tiermem.errors import InvalidInput
from tiermem.llm.interface import Message
from tiermem.model import Evidence

ORIGIN = Origin(
    dataset="tiny",
    checksum="0" * 64,
    sample={"questions": 6},
    engine="rules",
    judge="words",
    summary="s",
    raw="r",
    embedder="hash",
    prompt="p@1",
)


def row(case: str, number: int, text: str, *, c_s: bool | None, c_r: bool | None) -> Row:
    label = label_of(c_s, c_r)
    span = Span(page_id=PageId("p1:a"), start=0, end=1)
    said = "Ann adopted three grey cats in Oslo." if c_s else "Somebody sang."
    replies = [Message(role="assistant", content=json.dumps({"action": label}))] * (label is not None)
    return Row(
        question=QuestionId(f"{case}#{number}"),
        case=CaseId(case),
        part="train",
        category="fact",
        text=text,
        answerable=True,
        asked_at=datetime(2024, 5, 1, tzinfo=UTC),
        recalled=(Evidence(text=said, spans=(span,), score=1.0, source="unit", similarity=0.5),),
        c_s=c_s,
        c_r=c_r,
        label=label,
        s_tokens=10,
        r_tokens=100,
        recalled_tokens=10,
        messages=(Message(role="user", content=text), *replies),
        origin=ORIGIN,
    )


def some(cases: int = 4) -> list[Row]:
    made = []
    for case in range(cases):
        pairs = ((True, True), (False, True), (False, False), (True, False), (None, True), (False, True))
        for number, (c_s, c_r) in enumerate(pairs):
            text = f"How many grey cats did Ann adopt, {case} and {number}?"
            made.append(row(f"case-{case}", number, text, c_s=c_s, c_r=c_r))
    return made


@pytest.mark.parametrize(
    ("c_s", "c_r", "label"),
    [
        (True, True, "S"), (True, False, "S"), (True, None, "S"),
        (False, True, "R"), (False, False, None), (False, None, None), (None, True, None),
    ],
)  # fmt: skip
def test_a_label_is_the_papers(c_s: bool | None, c_r: bool | None, label: Choice | None) -> None:
    assert label_of(c_s, c_r) == label


def test_whole_conversations_are_parted() -> None:
    parted = by_conversation(some(6), Shares(dev=1 / 6, test=1 / 3))
    check_parts(parted)
    cases = {part: {one.case for one in parted if one.part == part} for part in ("train", "dev", "test")}
    assert {part: len(of) for part, of in cases.items()} == {"train": 3, "dev": 1, "test": 2}
    assert len(parted) == 36


def test_a_question_that_is_measured_on_is_learned_from_nowhere() -> None:
    rows = some(4)
    same = [replace(one, text="How many grey cats did Ann adopt in Oslo?") for one in rows[::6]]
    parted = by_conversation([*rows, *same], Shares(dev=0.25, test=0.25))
    check_parts(parted)
    assert {one.part for one in parted if one.text.endswith("Oslo?")} == {"test"}


def test_a_leak_is_an_error() -> None:
    parted = by_conversation(some(4), Shares(dev=0.25, test=0.25))
    moved = next(n for n, one in enumerate(parted) if one.part == "test")
    with pytest.raises(Leak, match="is in 'test' and"):
        check_parts([*parted, replace(parted[moved], part="train")])
    copied = replace(parted[moved], part="train", case=CaseId("new"), question=QuestionId("new#0"))
    with pytest.raises(Leak, match=r"'new#0' \(train\) asks what"):
        check_parts([*parted, copied])


def test_supervised_data_is_chats_alone_and_holds_what_has_a_label() -> None:
    chats = sft(some(1), "train")
    assert [choice_in(one["messages"][-1]["content"]) for one in chats] == ["S", "R", "S", "R"]
    assert all(one.keys() == {"messages"} for one in chats)
    assert sft(some(1), "dev") == []


def test_data_of_rewards_leaves_out_what_pages_do_not_answer_and_repeats_what_is_hard() -> None:
    prompts = grpo(some(1), "train", hard=3)
    assert [(one["c_s"], one["c_r"]) for one in prompts] == [(True, True)] + [(False, True)] * 6
    assert all([one["role"] for one in each["messages"]] == ["user"] for each in prompts)
    columns = {name: [one[name] for one in prompts] for name in ("c_s", "c_r")}
    assert RouterReward()(['{"action": "R"}'] * 7, **columns) == pytest.approx([0.5] + [0.9] * 6)


def test_files_are_written_and_read_again_and_hold_nothing_of_the_test(tmp_path: Path) -> None:
    parted = by_conversation(some(4), Shares(dev=0.25, test=0.25))
    written = write_rows(parted, tmp_path / "router.jsonl", hard=2)
    assert read_rows(tmp_path / "router.jsonl") == parted
    assert written == {
        "router.jsonl": 24,
        "router-sft-train.jsonl": 8,
        "router-grpo-train.jsonl": 10,
        "router-sft-dev.jsonl": 4,
        "router-grpo-dev.jsonl": 3,
    }
    tested = [one.messages[0].content for one in parted if one.part == "test"]
    for file in tmp_path.glob("router-*.jsonl"):
        assert not any(text in file.read_text() for text in tested)
    (tmp_path / "bad.jsonl").write_text('{"question": 1}\n')
    for name, says in (("bad.jsonl", "line 1"), ("none.jsonl", "no data")):
        with pytest.raises(InvalidInput, match=says):
            read_rows(tmp_path / name)


def test_a_policy_is_measured_where_it_did_not_learn_and_written_for_use(tmp_path: Path) -> None:
    rows = [one for one in some(6) if one.c_s is not None]
    (found,) = anyio.run(compared, [rows])
    ways = {name: of[0] for name, of in found.ways.items()}
    assert next(iter(ways)) == "never"
    assert list(ways)[-1] == "oracle"
    assert (ways["never"].escalation.rate, ways["always"].escalation.rate) == (0.0, 1.0)
    assert (ways["never"].tokens, ways["always"].tokens) == (10.0, 100.0)
    assert (ways["oracle"].accuracy, ways["oracle"].escalation.recall) == (0.8, 1.0)
    assert ways["supervised"].escalation.recall == 1.0  # what was recalled tells these apart
    assert len(found.ways["supervised, then by reward"]) == 3
    policy = anyio.run(learned_policy, rows)
    write_policy(policy, tmp_path / "policy.json")
    assert read_policy(tmp_path / "policy.json").trained_on == ("tiny",)
    with pytest.raises(InvalidInput, match="bring two"):
        anyio.run(compared, [some(1)])
    with pytest.raises(InvalidInput, match="too little"):
        anyio.run(learned_policy, [one for one in rows if one.c_s])


@pytest.fixture(scope="module")
def kept_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    systems = ["tiermem:summary", "tiermem:recalled", "tiermem:raw", "bm25"]
    folder = tiny.new_folder(tmp_path_factory.mktemp("run") / "run", "qa", systems)

    async def main() -> None:
        await qa(replace(tiny.plan(folder, systems), keep=True), ByWords())

    anyio.run(main)
    return folder


def of_run(folder: RunFolder, pair: Pair) -> list[Row]:
    async def main() -> list[Row]:
        shares = Shares(dev=0.0, test=0.5)
        return await outcomes(folder, tiny.setup(), tiny.Quiet(), pair=pair, shares=shares)

    return anyio.run(main)


@pytest.mark.parametrize(("summary", "source"), [("tiermem:summary", "unit"), ("tiermem:recalled", "turn")])
def test_what_was_recalled_is_found_in_the_memory_that_the_run_kept(
    kept_run: RunFolder, summary: str, source: str
) -> None:
    rows = of_run(kept_run, Pair(summary=summary))
    assert len(rows) == 8 - 2  # two questions are long enough to be the same in both conversations
    assert {one.source for row in rows for one in row.recalled} == {source}
    roof = next(row for row in rows if row.text.startswith("How much"))
    assert roof.c_s
    assert roof.label == "S"
    assert "1,450 dollars" in roof.messages[0].content
    assert roof.messages[0].content.count(roof.text) == 1
    assert choice_in(roof.messages[1].content) == "S"
    assert 0 < roof.s_tokens < roof.r_tokens
    assert roof.origin.judge == "words"


def test_a_run_without_the_systems_or_their_memories_is_refused(kept_run: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no answers of tiermem:always; there are: tiermem:summary"):
        of_run(kept_run, Pair(raw="tiermem:always"))
    with pytest.raises(InvalidInput, match="only TierMem's"):
        of_run(kept_run, Pair(raw="bm25"))
    gone = RunFolder.create(tmp_path / "run", kept_run.manifest)
    gone.append(list(kept_run.records()))
    with pytest.raises(InvalidInput, match="--keep"):
        of_run(gone, Pair())
