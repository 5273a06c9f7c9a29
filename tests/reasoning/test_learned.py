"""The learned reader without its training: what it reads, what it points at, and what it is made of."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import tiermem
from eval.research.training.reader.factors import pack, with_texts
from tests.embedding.plain_minilm import PlainMiniLM
from tests.reasoning.learned import learned, splitting
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.tensors import read_safetensors
from tiermem.embedding.weights import WEIGHTS, find_weights
from tiermem.errors import EmbedderUnavailable, InvalidInput
from tiermem.reasoning import engine_named
from tiermem.reasoning.interface import Draft, SaidTurn
from tiermem.reasoning.learned.decode import LONGEST, best_span
from tiermem.reasoning.learned.factors import merge_weights, unpack
from tiermem.reasoning.learned.first_line import KEY as FIRST_LINE
from tiermem.reasoning.learned.first_line import (
    READER_WEIGHT,
    FirstLineCalibration,
    FirstLineSignals,
    read_first_line,
    score_turns,
)
from tiermem.reasoning.learned.graph import LearnedReader, Precision
from tiermem.reasoning.learned.ordering import PointByReader, _LazyReader, with_reader
from tiermem.reasoning.learned.passage import READ, passage_of
from tiermem.reasoning.learned.pieces import FIRST, WIDTH, Pieces, encode
from tiermem.reasoning.learned.pointing import point_at_words
from tiermem.text.question import Question

SAID_BY = (
    ("Ann", "I adopted a rescue dog called Biscuit."),
    ("Bo", "The new roof of the pottery studio cost 1,450 dollars."),
    ("Ann", "Biscuit is allergic to chicken."),
    ("Bo", "I learned to swim last year."),
)
HASHED = HashEmbedder().name
SAID = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
TURNS = [
    SaidTurn(speaker="Ann", text="I adopted a rescue dog called Biscuit yesterday.", said_at=SAID),
    SaidTurn(speaker="Bo", text="My sister moved to Oslo.", said_at=SAID),
]


class Pointing:
    """A reader that points at the words it was given, at the first by 5, at each after it by 1 less."""

    def __init__(self, *words: str) -> None:
        self._words = words
        self._text = ""

    def pieces(self, first: str, second: str) -> Pieces:
        self._text = second
        return encode(splitting(), first, second)

    def outputs(self, pieces: Pieces) -> dict[str, Any]:
        span = np.zeros((len(pieces.ids), 2), np.float32)
        for behind, words in enumerate(self._words):
            at = self._text.index(words)
            place = pieces.at(at, at + len(words))
            assert place is not None
            span[place[0], 0] = span[place[1], 1] = 5.0 - behind
        return {"span": span, "suffices": np.ones(1, np.float32)}


def pointed(words: str, question: str, turns: list[SaidTurn] = TURNS) -> tuple[int, str, float]:
    """Which turn has the likeliest words, the words, and their lead."""
    found = point_at_words(Pointing(words), question, turns)  # type: ignore[arg-type]
    best = max(range(len(turns)), key=lambda at: found[at].lead)
    return best, turns[best].text[found[best].start : found[best].end], found[best].lead


def test_a_passage_tells_who_and_when_and_where_the_words_of_each_turn_are() -> None:
    passage = passage_of("Where is Oslo?", TURNS)
    assert passage.text.splitlines()[1] == "Bo (8 May 2023): My sister moved to Oslo."
    start = passage.text.index("Oslo")
    first, second = passage.lines[0], passage.lines[1]
    assert start - second.start + second.offset == TURNS[1].text.index("Oslo") == 19
    assert first.end <= start - 20 < second.start
    assert passage.text[second.start : second.end] == TURNS[1].text


def test_no_more_turns_are_read_than_are_read_at_once() -> None:
    assert len(passage_of("Who?", TURNS * READ).lines) == READ


def test_of_a_long_turn_the_part_is_read_that_the_question_is_about() -> None:
    text = "It rained again. " * 100 + "The violin is in the attic. " + "Nothing else. " * 100
    turn = SaidTurn(speaker="Ann", text=text)
    passage = passage_of("Where is the violin?", [turn])
    start = passage.text.index("attic")
    (line,) = passage.lines
    assert line.start <= start < start + 5 <= line.end
    at = start - line.start + line.offset
    assert text[at : at + 5] == "attic"
    assert len(passage.text) < 500


def test_both_texts_are_cut_to_what_is_read() -> None:
    pieces = encode(splitting(), "why " * 500, "so it is " * 500)
    assert len(pieces.ids) == WIDTH
    assert pieces.second == FIRST + 1
    assert len(pieces.offsets) == WIDTH - FIRST - 2
    assert pieces.at(0, 2) == (pieces.second, pieces.second)
    assert pieces.at(0, 4000) is None
    empty = encode(splitting(), "", "")
    assert (list(empty.ids), empty.offsets) == ([1, 2, 2], [])


def test_the_best_span_is_in_order_short_enough_and_within_its_bounds() -> None:
    drawn = np.random.default_rng(3)
    for _ in range(20):
        scores = drawn.normal(size=(60, 2)).astype(np.float32)
        found = best_span(scores, 5, 55)
        pairs = [
            (scores[a, 0] + scores[b, 1], a, b) for a in range(5, 55) for b in range(a, min(55, a + LONGEST))
        ]
        best, start, end = max(pairs)
        assert found is not None
        assert (found.start, found.end) == (start, end)
        assert found.margin == pytest.approx(best - scores[0].sum(), abs=1e-5)
    assert best_span(np.zeros((3, 2), np.float32), 2, 2) is None


def test_what_is_pointed_at_stands_in_a_turn_character_for_character() -> None:
    assert pointed("Oslo", "Where did the sister move?") == (1, "Oslo", 10.0)


def test_without_turns_there_are_no_words() -> None:
    assert point_at_words(Pointing(""), "Who?", []) == []  # type: ignore[arg-type]


def test_factors_come_back_from_their_file_nearly_as_they_were() -> None:
    drawn = np.random.default_rng(1)
    tensors = {
        "small": drawn.normal(size=9).astype(np.float32),
        "large": drawn.normal(size=(90, 64)).astype(np.float32),
    }
    raw = pack(tensors, {"trained_on": "[]"})
    back, header = unpack(raw)
    assert header == {"trained_on": "[]"}
    assert (back["small"] == tensors["small"]).all()
    assert 0 < np.abs(back["large"] - tensors["large"]).max() < 0.02
    assert pack(tensors, {"trained_on": "[]"}) == raw
    for broken in (b"", b"<html>", raw[:20]):
        with pytest.raises(ValueError, match="no file of"):
            unpack(broken)


@pytest.fixture(scope="module")
def weights() -> Path:
    try:
        return find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))


def test_the_graph_computes_the_model_written_out_in_numpy(weights: Path) -> None:
    """Heads are linear: their mean over the pieces is what they make of the mean vector."""
    made = learned(read_safetensors(weights / WEIGHTS))
    reader = LearnedReader(weights, pack(made, {}), precision="fp32")
    pieces = reader.pieces("Where does she work?", "Ann (8 May 2023): I have a job at the bakery.")
    mean = (reader.outputs(pieces)["span"] - made["heads.span.bias"]).mean(axis=0)
    vector = PlainMiniLM(weights / WEIGHTS).vector(list(pieces.ids))
    wanted = made["heads.span.weight"] @ vector
    assert mean[0] / mean[1] == pytest.approx(wanted[0] / wanted[1], rel=1e-4)


def test_eight_bits_point_where_thirty_two_point(weights: Path) -> None:
    raw = pack(learned(read_safetensors(weights / WEIGHTS), up=0.02), {})
    both = [LearnedReader(weights, raw, precision=precision) for precision in get_args(Precision)]
    pieces = both[0].pieces("What is Biscuit allergic to?", passage_of("", TURNS).text)
    exact, small = (reader.outputs(pieces) for reader in both)
    assert exact.keys() == small.keys() == {"span", "suffices", "bears", "grade"}
    assert np.corrcoef(exact["span"].ravel(), small["span"].ravel())[0, 1] > 0.97
    assert exact["grade"].shape == small["grade"].shape == (3,)


def test_factors_are_merged_onto_the_installed_weights(weights: Path) -> None:
    installed = read_safetensors(weights / WEIGHTS)
    name = "encoder.layer.3.attention.self.key.weight"
    same = merge_weights(installed, learned(installed))
    other = merge_weights(installed, learned(installed, up=0.1))
    assert (same[name] == installed[name]).all()
    assert np.linalg.matrix_rank(other[name] - installed[name], tol=1e-3) == 4


@pytest.mark.parametrize("precision", get_args(Precision))
def test_the_graph_that_is_shipped_is_made_again_byte_for_byte(precision: Precision) -> None:
    pytest.importorskip("onnx", reason="the graphs are made with `onnx`, which is no need of the package")
    from tests.reasoning.reader_graph import built, shipped

    assert built(precision) == shipped(precision).read_bytes()
    assert shipped(precision).stat().st_size < 16_000


@pytest.fixture(scope="module")
def factors(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader that has learned nothing, and calls every first line half sure, likely at risks from .5."""
    file = tmp_path_factory.mktemp("reader") / "reader.safetensors"
    raw = pack(learned(read_safetensors(weights / WEIGHTS), up=0.02), {"trained_on": "[]"})
    first_line = FirstLineCalibration(
        embedder=HASHED, bias=0.0, weights={"lead": 0.0}, thresholds={"0.50": 0.4}
    )
    file.write_bytes(with_texts(raw, {FIRST_LINE: first_line.written()}))
    return file


def opened(reader: Path, **given: Any) -> tiermem.Memory:
    return tiermem.open(":memory:", embedder="hashed", index="memory", reader=str(reader), **given)


def ask_with(reader: Path) -> None:
    """Ask a question of a memory whose lines a reader orders."""
    with opened(reader) as memory:
        memory.add("Biscuit is allergic to chicken.", speaker="Ann")
        memory.ask("What is Biscuit allergic to?")


@pytest.mark.parametrize(
    "question", ["What is Biscuit allergic to?", "When was the roof done?", "Who swims?"]
)
def test_whatever_a_reader_has_learned_lines_are_words_of_a_page(factors: Path, question: str) -> None:
    with opened(factors, risk=0.6) as memory:
        for speaker, text in SAID_BY:
            memory.add(text, speaker=speaker, said_at="2023-05-08T13:56")
        memory.flush()
        answer = memory.ask(question)
        assert (answer.abstained, answer.support, answer.probability) == (False, "said", 0.5)
        for line in answer.said:
            assert line.span is not None
            page = memory.page(line.span.page_id)
            assert page.text[line.span.start : line.span.end] == line.text
        assert memory.audit(answer.id).intact
        assert memory.audit(answer.id).answer.probability == answer.probability


def test_without_a_reader_it_is_said_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no reader at .*eval\.research train"):
        opened(tmp_path / "reader.safetensors")
    (tmp_path / "page.html").write_text("<html>not found</html>")
    with pytest.raises(InvalidInput, match="cannot be opened as a reader"):
        opened(tmp_path / "page.html")


def forged(raw: bytes, tensor: str, value: float | None = None, **described: Any) -> bytes:
    """The bytes of a reader with one tensor filled with a value, or described otherwise."""
    length = int.from_bytes(raw[:8], "little")
    head, numbers = json.loads(raw[8 : 8 + length]), bytearray(raw[8 + length :])
    if value is not None:
        start, end = head[tensor]["data_offsets"]
        numbers[start:end] = np.full((end - start) // 4, value, np.float32).tobytes()
    head[tensor] |= described
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + bytes(numbers)


@pytest.mark.parametrize(
    ("tensor", "change"),
    [
        ("heads.span.bias", {"value": float("nan")}),
        ("layers.0.up.up:scale", {"value": float("inf")}),
        ("layers.0.up.up:scale", {"value": 3e38}),
        ("layers.0.up.up", {"dtype": "F64"}),
        ("heads.span.weight", {"shape": [384, 2]}),
        ("norm.bias", {"shape": [1], "data_offsets": [0, 4]}),
        ("layers.0.up.up:scale", {"shape": [1], "data_offsets": [0, 4]}),
        ("layers.0.mix.bias", {"shape": [-1]}),
        ("layers.0.mix.bias", {"data_offsets": [0, 10**12]}),
        ("layers.0.mix.bias", {"data_offsets": ["a", {}]}),
    ],
)
def test_a_file_with_numbers_that_cannot_be_is_refused_by_its_name(
    factors: Path, tmp_path: Path, tensor: str, change: dict[str, Any]
) -> None:
    file = tmp_path / "forged.safetensors"
    file.write_bytes(forged(factors.read_bytes(), tensor, **change))
    refused = r"forged\.safetensors' cannot be opened as a reader .* or choose"
    with pytest.raises(InvalidInput, match=refused):
        ask_with(file)


@pytest.mark.parametrize("head", [b"[]", b'{"a": 1}', b'{"__metadata__": [1]}', b"[" * 100_000, b"\xff\xff"])
def test_a_head_that_names_no_tensors_is_refused(head: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever check says first that it is none
        unpack(len(head).to_bytes(8, "little") + head)


def test_a_number_that_is_not_finite_is_never_a_probability() -> None:
    with pytest.raises(InvalidInput, match="probability must be from 0 to 1"):
        Draft(text="chicken", cited=(0,), abstained=False, probability=float("nan"))


def test_a_draft_of_words_that_are_no_text_is_refused() -> None:
    number: Any = 5
    with pytest.raises(InvalidInput, match="text of a Draft must be a text, not 5"):
        Draft(text=number, cited=(0,), abstained=False)


def test_a_changed_reader_of_the_package_is_refused(factors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiermem.reasoning.learned.shared.SHIPPED", factors)
    monkeypatch.setattr("tiermem.reasoning.learned.shared._in_use", {})  # as in another process
    with pytest.raises(InvalidInput, match="not the file of this version, by its SHA-256"):
        ask_with(factors)


def test_the_reader_is_chosen_by_a_setting(factors: Path, tmp_path: Path) -> None:
    def probability(**given: Any) -> float | None:
        with tiermem.open(":memory:", embedder="hashed", index="memory", **given) as memory:
            memory.add("Biscuit is allergic to chicken.", speaker="Ann")
            answer = memory.ask("What is Biscuit allergic to?")
            assert answer.said[0].text == "Biscuit is allergic to chicken."
            return answer.probability

    assert probability(reader=str(factors)) == 0.5
    assert probability(reader="none") is None
    assert probability() is None  # none comes with the package for words alone
    with pytest.raises(InvalidInput, match="no reader at"):
        probability(reader=str(tmp_path / "nowhere"))
    with pytest.raises(InvalidInput, match="risk"):
        probability(risk=1.5)


def test_the_risk_decides_whether_lines_are_called_likely(factors: Path) -> None:
    for risk, abstained in ((0.4, True), (0.6, False)):
        with tiermem.open(
            ":memory:", embedder="hashed", index="memory", reader=str(factors), risk=risk
        ) as memory:
            memory.add("Biscuit is allergic to chicken.", speaker="Ann")
            answer = memory.ask("What is Biscuit allergic to?")
            assert (answer.abstained, answer.probability) == (abstained, 0.5)
            assert answer.text.startswith("Nearest in memory:" if abstained else "Said about this:")
            assert [one.quote for one in answer.citations] == [
                one.text for one in answer.said if not abstained
            ]


def test_the_reader_of_the_package_is_for_the_embedder_it_was_calibrated_with(
    factors: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def orders(embedder: str) -> bool:
        return with_reader(engine_named("local"), "auto", risk=0.5, embedder=embedder).point is not None

    monkeypatch.setattr("tiermem.reasoning.learned.ordering.SHIPPED", factors)
    assert [orders(HASHED), orders(f"{HASHED}-int8")] == [True, True]
    assert not orders("another")
    monkeypatch.setattr("tiermem.reasoning.learned.ordering.SHIPPED", tmp_path / "nowhere")
    assert not orders(HASHED)


@pytest.mark.anyio
async def test_without_weights_lines_are_in_the_order_of_the_search(
    factors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tiermem.reasoning.learned.ordering.weights_here", lambda named: None)
    point = PointByReader(
        opened=_LazyReader(factors, tmp_path / "nowhere"), risk=0.5, embedder=HASHED, named=False
    )
    assert await point(Question("Where is Oslo?", SAID), TURNS, [1.0, 2.0]) is None


def test_scores_are_of_the_search_and_of_leads_and_signals_are_of_the_best_turn() -> None:
    scored = score_turns(Pointing("Oslo"), "Where did Ann's sister move?", TURNS, [3.0, 2.5])  # type: ignore[arg-type]
    words = [turn.text[one.start : one.end] for turn, one in zip(TURNS, scored.words, strict=True)]
    assert words[1] == "Oslo"
    assert scored.scores == (3.0 + READER_WEIGHT * scored.words[0].lead, 2.5 + READER_WEIGHT * 10.0)
    assert scored.signals == FirstLineSignals(
        lead=10.0, gap=scored.scores[1] - scored.scores[0], score=2.5, is_of_other=1.0
    )
    alone = score_turns(Pointing("Oslo"), "Where did Bo's sister move?", TURNS[1:], [200.0])  # type: ignore[arg-type]
    assert alone.signals == FirstLineSignals(lead=10.0, gap=12.0, score=30.0, is_of_other=0.0)


def test_a_calibration_is_kept_in_the_file_and_what_is_none_is_refused() -> None:
    made = FirstLineCalibration(
        embedder="m", bias=-1.0, weights={"lead": 1.0, "gap": 0.5}, thresholds={"0.50": 0.25}
    )
    assert read_first_line({FIRST_LINE: made.written()}) == made
    assert read_first_line({}) is None
    signals = FirstLineSignals(lead=1.0, gap=2.0, score=3.0, is_of_other=0.0)
    assert made.probability(signals) == pytest.approx(1 / (1 + np.exp(-1.0)))
    assert (made.threshold(0.6), made.threshold(0.4)) == (0.25, 2.0)
    with pytest.raises(FloatingPointError):
        made.probability(replace(signals, lead=float("nan")))
    replaced = (("lead", "mood"), ('"0.50"', '"0.5"'), ('"0.50"', '"half"'), ("0.25", "NaN"))
    for broken in ('{"embedder": "m"}', '"x"', "{", *(made.written().replace(*pair) for pair in replaced)):
        with pytest.raises(ValueError):  # noqa: PT011 - whichever says first that it is none
            read_first_line({FIRST_LINE: broken})


def test_texts_are_put_beside_the_numbers_and_leave_them_as_they_are() -> None:
    raw = pack({"a": np.ones((2, 3), np.float32)}, {"trained_on": "[]"})
    again = with_texts(raw, {"calibration": "x"})
    tensors, header = unpack(again)
    assert header == {"trained_on": "[]", "calibration": "x"}
    assert (tensors["a"] == 1).all()
    assert with_texts(raw, {}) == raw
    with pytest.raises(ValueError, match="no file of"):
        with_texts(b"", {})


def test_no_number_is_cut_in_two() -> None:
    turn = SaidTurn(speaker="Ann", text="The studio costs 1,200 euros a month.")
    assert pointed("1", "What does the studio cost?", [turn])[1] == "1,200"


@pytest.mark.parametrize(
    ("text", "pointed_at", "marked"),
    [
        ("It is db-stg-04, not db-prd.", "stg", "db-stg-04"),
        ("Write to ada.l@example.org.", "ada", "ada.l@example.org"),
        ('He wrote: "Dear Nora", then', "Dear", "Dear"),
        ("The studio costs 1,200 euros.", "1", "1,200"),
        ("我下个月搬到上海，在徐汇区", "上海", "我下个月搬到上海"),  # the pieces of this tokenizer are words
        ("tl;dr it rained", "dr", "tl;dr"),
    ],
)
def test_no_word_is_cut_by_a_mark(text: str, pointed_at: str, marked: str) -> None:
    turn = SaidTurn(speaker="Ann", text=text, said_at=SAID)
    (words,) = point_at_words(Pointing(pointed_at), "What?", [turn])  # type: ignore[arg-type]
    assert text[words.start : words.end] == marked
