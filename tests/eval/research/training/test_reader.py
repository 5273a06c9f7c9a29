"""Lessons as numbers, marks, measures and pictures; and, where PyTorch is, the training itself."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from eval.report.pictures import picture
from eval.research.cli import app
from eval.research.training.data.examples import Example
from eval.research.training.data.found import Found
from eval.research.training.reader.curves import losses
from eval.research.training.reader.encode import NONE, batch, batches, encoded_one
from eval.research.training.reader.marks import auc, marks, squad_marks
from eval.research.training.reader.marks import read as read_answer
from eval.research.training.reader.measure import ReaderAnswer, answers, shares
from eval.research.training.reader.prepare import drawn, prepared
from eval.types import CaseId, QuestionId
from tests.eval import tiny
from tests.reasoning.learned import splitting
from tiermem.embedding.weights import find_weights
from tiermem.errors import EmbedderUnavailable, InvalidInput
from tiermem.reasoning.learned.factors import SHIPPED
from tiermem.reasoning.learned.graph import LearnedReader

TEXT = "The mill was built in 1840 by Ada Brook"


def lesson(name: str = "a", *, label: int = 1, task: Any = "read", answer: str = "Ada Brook") -> Example:
    at = TEXT.find(answer)
    return Example(
        id=name,
        source="squad",
        group=name,
        task=task,
        first="Who built it?",
        second=TEXT,
        label=label,
        spans=((at, at + len(answer)),) if label == 1 and task == "read" else (),
        answers=(answer,),
    )


def test_labels_are_of_their_task_alone() -> None:
    made = prepared(
        [lesson(), lesson(label=0), lesson(label=-1), lesson(task="rank"), lesson(task="support")],
        splitting(),
    )
    rows = batch(made.encoded).labels.tolist()
    second = made.pieces[0].second
    assert rows[0] == [second + 7, second + 8, 1, NONE, NONE]
    assert rows[1] == [0, 0, 0, NONE, NONE]
    assert rows[2] == [NONE, NONE, NONE, NONE, NONE]
    assert rows[3] == [NONE, NONE, NONE, 1, NONE]
    assert rows[4] == [NONE, NONE, NONE, NONE, 1]
    assert encoded_one(lesson(), made.pieces[0]) == made.encoded[0]


def test_batches_hold_every_lesson_once_in_an_order_of_the_seed() -> None:
    lengths = [7 + (n * 13) % 90 for n in range(300)]
    made = list(batches(lengths, pieces=512, seed=4))
    assert sorted(at for of in made for at in of) == list(range(300))
    assert all(max(lengths[at] for at in of) * len(of) <= 512 for of in made)
    assert made == list(batches(lengths, pieces=512, seed=4)) != list(batches(lengths, pieces=512, seed=5))


def test_what_is_drawn_depends_on_seed_and_name_alone() -> None:
    several = [lesson(f"l{n}") for n in range(50)]
    assert drawn(several, 10, seed=1) == drawn(several, 10, seed=1) != drawn(several, 10, seed=2)
    assert drawn(several, None, seed=1) == several


@pytest.mark.parametrize(
    ("scores", "right", "wanted"),
    [
        ([3, 2, 1], [True, False, False], 1.0),
        ([1, 1], [True, False], 0.5),
        ([1, 2, 2], [True, True, False], 0.25),
    ],
)
def test_the_area_under_the_curve(scores: list[float], right: list[bool], wanted: float) -> None:
    assert auc(scores, right) == wanted


def outputs(width: int, start: int, end: int, *, suffices: float = 1.0) -> dict[str, Any]:
    span = np.zeros((width, 2), np.float32)
    span[start, 0] = span[end, 1] = 3.0
    one = np.array([suffices], np.float32)
    return {"span": span, "suffices": one, "bears": one, "grade": np.array([0, 1, 0], np.float32)}


def test_marks_of_every_head() -> None:
    of = [
        lesson("a"),
        lesson("b", label=0),
        lesson("c", task="rank"),
        lesson("d", task="rank", label=0),
        lesson("e", task="support"),
    ]
    made = prepared(of, splitting())
    width, second = len(made.pieces[0].ids), made.pieces[0].second
    said = [
        outputs(width, second + 7, second + 8),
        outputs(width, 0, 0, suffices=-1.0),
        outputs(width, 0, 0),
        outputs(width, 0, 0, suffices=-1.0),
        outputs(width, 0, 0),
    ]
    assert marks(of, made.pieces, said) == {
        "span F1": 1.0,
        "answerable AUC by margin": 1.0,
        "answerable AUC by head": 1.0,
        "bears AUC": 1.0,
        "grade right": 1.0,
    }
    readings = [read_answer(*one) for one in zip(of[:2], made.pieces, said, strict=False)]
    assert readings[0].words == "Ada Brook"
    assert squad_marks(of[:2], readings, 0.0) == {"f1": 1.0, "exact": 1.0, "f1 of those with an answer": 1.0}
    assert squad_marks(of[:2], readings, 99.0)["f1"] == 0.5


def answered(name: str, margin: float, *, answerable: bool = True, right: bool = True) -> ReaderAnswer:
    return ReaderAnswer(
        case=CaseId("c"),
        question=QuestionId(name),
        category="fact",
        answerable=answerable,
        words="y",
        right=right,
        margin=margin,
        seconds=0.01,
    )


def test_margins_up_to_a_threshold_are_left_unanswered() -> None:
    asked = [
        answered("a", 3.0),
        answered("b", 1.0),
        answered("c", 2.0, right=False),
        answered("d", 0.5, answerable=False),
        answered("e", 1.5, answerable=False),
    ]
    some = shares(asked, 0.5)
    assert (some.abstained, some.unanswered, some.with_answer, some.without) == (0.5, 0.0, 3, 2)
    assert some.right == pytest.approx(2 / 3)
    assert shares(asked, 1.0).right == shares(asked, 1.0).unanswered == pytest.approx(1 / 3)
    assert shares(asked, float("-inf")).abstained == 0.0


def test_an_answer_is_the_likeliest_words_of_the_turns_that_were_found() -> None:
    try:
        reader = LearnedReader(find_weights(), SHIPPED.read_bytes())
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    case = tiny.case("one")
    turns = (tiny.turn(1, 0), tiny.turn(1, 2), tiny.turn(2, 0))
    found = {asked.id: Found(case=case.id, question=asked.id, turns=turns) for asked in case.questions}
    answers_of = answers(reader, [case], found)
    assert [one.words for one in answers_of if one.right] == ["Biscuit", "1,450 dollars", "chicken"]
    assert (shares(answers_of, 0.0).right, shares(answers_of, 0.0).abstained) == (1.0, 1.0)
    nothing = {name: replace(one, turns=()) for name, one in found.items()}
    assert {one.words for one in answers(reader, [case], nothing)} == {""}


def test_curves_are_a_picture_that_needs_nothing_else() -> None:
    curve = losses([{"step": float(n), "span": 5 - n / 50, "grade": 1.0} for n in range(100)])
    assert curve["span"][0].y > curve["span"][-1].y
    drawn_picture = picture(curve, y="loss", x="steps")
    assert drawn_picture.startswith("<svg ")
    assert "<style>" in drawn_picture
    assert drawn_picture.count("<polyline") == 2


def test_without_pytorch_the_command_says_which_group_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ran = CliRunner().invoke(app, ["train", "--data", str(tmp_path), "--out", str(tmp_path)])
    assert ran.exit_code == 1
    assert "--group train" in str(ran.exception) + ran.output


def test_a_gpu_that_pytorch_does_not_find_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="training needs the group `train`")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    asked = ["train", "--data", str(tmp_path), "--out", str(tmp_path), "--device", "cuda"]
    ran = CliRunner().invoke(app, asked)
    assert ran.exit_code == 1
    assert "finds no GPU" in str(ran.exception) + ran.output


def test_the_command_that_repeats_a_training_names_the_gpu() -> None:
    pytest.importorskip("torch", reason="training needs the group `train`")
    from eval.research.training.reader.command import _again
    from eval.research.training.reader.loop import Recipe

    on_cpu, on_gpu = (
        _again(None, "0", Recipe(device=device), None, measure="locomo", find=True)
        for device in ("cpu", "cuda")
    )
    assert on_gpu == f"{on_cpu} --device cuda"


def tiny_weights() -> dict[str, Any]:
    from tests.embedding.minilm_graph import shapes

    chance = np.random.default_rng(5)
    return {name: (chance.normal(size=shape) * 0.05).astype(np.float32) for name, shape in shapes()}


def test_training_learns_goes_on_where_it_stopped_and_is_the_same_twice(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs the group `train`")
    from eval.progress import watching
    from eval.research.training.reader.loop import Recipe, outputs, train

    lessons = [lesson(f"l{n}", label=n % 2) for n in range(8)]
    made = prepared(lessons, splitting())
    weights = tiny_weights()

    def run(folder: str, *, rank: int = 4, epochs: int = 3) -> Any:
        recipe = Recipe(rank=rank, epochs=epochs, pieces=128, looks=1, rate=0.003)
        with watching() as watcher:
            return train(
                weights, made.encoded, made.encoded[:2], lambda of: {"n": float(len(of))},
                recipe=recipe, folder=tmp_path / folder, watcher=watcher, save_every=0.0,
            )  # fmt: skip

    reader, curve = run("one")
    again, same = run("two")
    assert curve.losses == same.losses
    _, longer = run("long", epochs=24)
    assert longer.losses[-1]["span"] < 0.9 * longer.losses[0]["span"]
    first, second = outputs(reader, made.encoded), outputs(again, made.encoded)
    assert all((a["span"] == b["span"]).all() for a, b in zip(first, second, strict=True))
    resumed, _ = run("one")
    assert all(
        (a["span"] == b["span"]).all() for a, b in zip(first, outputs(resumed, made.encoded), strict=True)
    )
    with pytest.raises(InvalidInput, match="of another training"):
        run("one", epochs=2)
    names = set(reader.learned())
    assert "layers.0.query.down" in names
    assert "layers.0.query.weight" not in names
    whole, _ = run("whole", rank=0)
    assert "layers.0.query.weight" in whole.learned()


def test_a_mean_of_readers_is_the_mean_of_what_they_make_of_the_weights() -> None:
    from eval.research.training.reader.export import mean_of
    from eval.research.training.reader.factors import pack

    drawn = np.random.default_rng(5)

    def learned() -> dict[str, Any]:
        shapes = {"m.up": (5, 2), "m.down": (2, 3), "m.bias": (5,)}
        return {name: drawn.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}

    one, other = learned(), learned()
    mean = mean_of([pack(one, {}), pack(other, {})])
    both = (one["m.up"] @ one["m.down"] + other["m.up"] @ other["m.down"]) / 2
    assert mean["m.up"] @ mean["m.down"] == pytest.approx(both, abs=1e-5)
    assert mean["m.bias"] == pytest.approx((one["m.bias"] + other["m.bias"]) / 2)
    assert all((mean_of([pack(one, {})])[name] == one[name]).all() for name in one)


@pytest.mark.parametrize("named", ["", "0,0", "one", "-1"])
def test_seeds_are_different_whole_numbers(named: str) -> None:
    from eval.research.training.reader.command import _numbers

    assert _numbers("3, 1") == (3, 1)
    with pytest.raises(InvalidInput, match="0,1"):
        _numbers(named)
