"""The learned reader without its training: what it reads, what it points at, and what it is made of."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import tiermem
from tests.embedding.plain_minilm import PlainMiniLM
from tests.reasoning.learned import learned, splitting
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.tensors import read_safetensors
from tiermem.embedding.weights import WEIGHTS, find_weights
from tiermem.errors import EmbedderUnavailable, InvalidInput
from tiermem.model import Evidence
from tiermem.reasoning import Engine, by_reader, by_rules, with_reader
from tiermem.reasoning.interface import Draft
from tiermem.reasoning.learned.answering import choose_by_agreement, point
from tiermem.reasoning.learned.calibration import KEY, Calibration, Signals, read_calibration
from tiermem.reasoning.learned.decode import LONGEST, best_span, best_spans
from tiermem.reasoning.learned.engine import (
    PointByReader,
    _LazyReader,
    propose,
    spoken_turn,
    turns_of,
)
from tiermem.reasoning.learned.factors import merge_weights, pack, unpack, with_texts
from tiermem.reasoning.learned.first_line import KEY as FIRST_LINE
from tiermem.reasoning.learned.first_line import (
    READER_WEIGHT,
    FirstLineCalibration,
    FirstLineSignals,
    read_first_line,
    score_turns,
)
from tiermem.reasoning.learned.fitting import expected_answer
from tiermem.reasoning.learned.graph import LearnedReader, Precision
from tiermem.reasoning.learned.passage import READ, Words, passage_of, window_of
from tiermem.reasoning.learned.pieces import FIRST, WIDTH, Pieces, encode
from tiermem.text.histories import SaidTurn

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


def pointed(words: str, question: str, turns: list[SaidTurn] = TURNS) -> Any:
    return point(Pointing(words), question, turns)  # type: ignore[arg-type]


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


def test_a_window_has_the_turns_beside() -> None:
    assert window_of(TURNS, 1).splitlines()[1].startswith("before: Ann (8 May 2023): I adopted")
    assert "after: Bo" in window_of(TURNS, 0)


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
        several = best_spans(scores, 5, 55, count=4)
        ranked = sorted(pairs, reverse=True)[:4]
        assert [(one.start, one.end) for one in several] == [(a, b) for _, a, b in ranked]
    assert best_span(np.zeros((3, 2), np.float32), 2, 2) is None


def test_what_is_pointed_at_stands_in_a_turn_character_for_character() -> None:
    found = pointed("Oslo", "Where did the sister move?")
    assert (found.text, found.best.turn) == ("Oslo", 1)
    assert TURNS[1].text[found.best.start : found.best.end] == "Oslo"
    assert found.margin == 10.0


def test_when_something_was_is_the_day_its_words_mean() -> None:
    assert pointed("adopted", "When did Ann adopt a dog?").text == "7 May 2023"
    assert pointed("moved", "When did the sister move?").text == "8 May 2023"


def test_a_turn_of_another_speaker_than_the_one_asked_about_leads_by_less() -> None:
    assert pointed("Oslo", "Where did Ann's sister move?").margin == 6.0
    assert pointed("Oslo", "Where did Bo's sister move?").margin == 10.0
    assert pointed("Oslo", "Where did Ann and Bo move?").margin == 10.0


def test_without_words_there_is_no_answer() -> None:
    class Silent(Pointing):
        def outputs(self, pieces: Pieces) -> dict[str, Any]:
            return {"span": np.zeros((len(pieces.ids), 2), np.float32), "suffices": np.zeros(1, np.float32)}

    assert point(Silent(""), "Who?", []) is None  # type: ignore[arg-type]


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
    """A reader that has learned nothing, said to be always half sure, and to answer at risks from .5."""
    calibration = Calibration(embedder="words", bias=0.0, weights={"ahead": 0.0}, rules_bias=0.0,
                              rules_weights={"day": 9.0}, thresholds={"0.50": 0.4})  # fmt: skip
    file = tmp_path_factory.mktemp("reader") / "reader.safetensors"
    raw = pack(learned(read_safetensors(weights / WEIGHTS), up=0.02), {"trained_on": "[]"})
    first_line = FirstLineCalibration(
        embedder=HASHED, bias=0.0, weights={"lead": 0.0}, thresholds={"0.50": 0.4}
    )
    file.write_bytes(with_texts(raw, {KEY: calibration.written(), FIRST_LINE: first_line.written()}))
    return file


def opened(engine: Engine) -> tiermem.Memory:
    return tiermem.open(":memory:", engine=engine, embedder="hashed", index="memory")


@pytest.mark.parametrize(
    "question", ["What is Biscuit allergic to?", "When was the roof done?", "Who swims?"]
)
def test_whatever_a_reader_has_learned_it_says_nothing_but_words_of_a_page(
    factors: Path, question: str
) -> None:
    with opened(by_reader(factors, risk=0.6, embedder="words")) as memory:
        for speaker, text in SAID_BY:
            memory.add(text, speaker=speaker, said_at="2023-05-08T13:56")
        memory.flush()
        answer = memory.ask(question)
        assert not answer.abstained
        assert answer.probability is not None
        assert answer.probability >= 0.4
        # The day on which a turn was said is no date that it states.
        assert (answer.support == "quoted") == (answer.text != "8 May 2023")
        (cited,) = answer.citations
        assert answer.text in cited.quote or answer.text in (cited.speaker, "8 May 2023")
        assert memory.audit(answer.id).intact
        assert memory.audit(answer.id).answer.probability == answer.probability


def test_what_is_riskier_than_asked_is_left_unanswered(factors: Path) -> None:
    with opened(by_reader(factors, risk=0.3, embedder="words")) as memory:
        memory.add("Biscuit is allergic to chicken.", speaker="Ann")
        answer = memory.ask("What is Biscuit allergic to?")
        assert (answer.abstained, answer.probability) == (True, None)
        assert "chicken" in answer.said[0].text


def test_of_turns_that_another_embedder_found_it_tells_no_probability(factors: Path) -> None:
    with opened(by_reader(factors, embedder="another")) as memory:
        memory.add("I adopted Biscuit yesterday.", speaker="Ann", said_at="2023-05-08T13:56")
        answer = memory.ask("When did Ann adopt Biscuit?")
        assert (answer.text, answer.probability) == ("7 May 2023", None)


def test_dates_are_worded_as_rules_word_them(factors: Path) -> None:
    with opened(by_reader(factors, risk=0.5, embedder="words")) as memory:
        memory.add("I adopted Biscuit yesterday.", speaker="Ann", said_at="2023-05-08T13:56")
        memory.add("The roof was done last week.", speaker="Bo", said_at="2023-05-08T13:57")
        answer = memory.ask("When did Ann adopt Biscuit?")
        assert answer.text in ("7 May 2023", "the week before 8 May 2023")


def evidence_of(*said: tuple[str, str]) -> list[Evidence]:
    return [
        Evidence(text=f"{speaker}: {text}", spans=(), score=1.0, source="turn", said_at=SAID)
        for speaker, text in said
    ]


def proposed(question: str, evidence: list[Evidence], *words: str) -> Any:
    found = propose(Pointing(*words), question, evidence)  # type: ignore[arg-type]
    return None if found is None else found.draft


def test_a_list_is_words_of_several_turns_and_cites_each() -> None:
    said = evidence_of(
        ("Ann", "I read Emma on the train."),
        ("Ann", "This summer it was Dracula, all night."),
        ("Ann", "Emma again, on the boat."),
        ("Ann", "I read nothing in May."),
    )
    draft = proposed("Which books did Ann read?", said, "Emma", "Dracula", "nothing")
    assert (draft.text, draft.cited) == ("Emma, Dracula", (0, 1))
    for part, at in zip(draft.text.split(", "), draft.cited, strict=True):
        assert part in said[at].text
    assert proposed("What did Ann read?", said, "Emma", "Dracula").text == "Emma"


def test_yes_is_said_where_words_answer_and_deny_nothing_and_else_nothing_is() -> None:
    question = "Did Bo bake a loaf?"
    (yes,) = evidence_of(("Bo", "Every Sunday a loaf comes out of my oven."))
    (no,) = evidence_of(("Bo", "A loaf has not come out of my oven for years."))
    assert (proposed(question, [yes], "a loaf").text, proposed(question, [no], "A loaf")) == ("Yes", None)
    assert proposed("Has Bo made bread often?", [yes], "a loaf") is None  # few words of the question
    assert proposed(question, [yes]) is None  # nothing leads "there is no answer"
    (either,) = evidence_of(("Bo", "I moved to the coast, near a beach."))
    assert proposed("Does Bo live by a beach or in the hills?", [either], "beach").text == "beach"


def test_what_the_question_says_itself_or_a_pronoun_is_no_answer() -> None:
    said = evidence_of(("Ann", "We made fresh pasta with ham and peas."))
    assert proposed("What kind of pasta did Ann make?", said, "pasta", "ham").text != "pasta"
    broken = evidence_of(("Ann", "He broke his wrist."), ("Bo", "Tom fell off the ladder."))
    assert proposed("Who broke his wrist?", broken, "He", "Tom").text == "Tom"


@pytest.mark.parametrize(
    ("question", "text", "words", "better"),
    [
        ("How many dogs has Ann?", "Yes, tons of them, and three are mine.", "tons", "three"),
        ("What is the name of the dog?", "The chicken was for Pixel.", "chicken", "Pixel"),
        ("What did Ann bake?", "A loaf of rye. [shares a photo: a table]", "a table", "rye"),
    ],
)
def test_words_of_another_kind_than_what_is_asked_for_lead_by_less(
    question: str, text: str, words: str, better: str
) -> None:
    def against(part: str) -> float:
        at = text.index(part)
        return expected_answer(question, ["Ann"]).against(text, at, at + len(part))

    assert against(words) > against(better) == 0


def test_without_a_reader_it_is_said_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no reader at .*eval\.research train"):
        by_reader(tmp_path / "reader.safetensors")
    (tmp_path / "page.html").write_text("<html>not found</html>")
    with opened(by_reader(tmp_path / "page.html")) as memory:
        memory.add("Biscuit is allergic to chicken.", speaker="Ann")
        with pytest.raises(InvalidInput, match="cannot be opened as a reader"):
            memory.ask("What is Biscuit allergic to?")


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
    with opened(by_reader(file, embedder="words")) as memory:
        memory.add("Biscuit is allergic to chicken.", speaker="Ann")
        with pytest.raises(
            InvalidInput, match=r"forged\.safetensors' cannot be opened as a reader .* or choose"
        ):
            memory.ask("What is Biscuit allergic to?")


@pytest.mark.parametrize("head", [b"[]", b'{"a": 1}', b'{"__metadata__": [1]}', b"[" * 100_000, b"\xff\xff"])
def test_a_head_that_names_no_tensors_is_refused(head: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever check says first that it is none
        unpack(len(head).to_bytes(8, "little") + head)


def test_a_number_that_is_not_finite_is_never_a_probability(factors: Path) -> None:
    with pytest.raises(InvalidInput, match="probability must be from 0 to 1"):
        Draft(text="chicken", cited=(0,), abstained=False, probability=float("nan"))
    made = Calibration(embedder="m", bias=0.0, weights={"margin": 1e308, "ahead": -1e308}, rules_bias=0.0,
                       rules_weights={}, thresholds={})  # fmt: skip
    signals = Signals(margin=12.0, ahead=12.0, covered=0.0, agrees=0.0, silent=0.0, by_rules=0.0, day=0.0)
    with pytest.raises(FloatingPointError):
        made.probability(signals)


def test_a_changed_reader_of_the_package_is_refused(factors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tiermem.reasoning.learned.shared.SHIPPED", factors)
    monkeypatch.setattr("tiermem.reasoning.learned.shared._in_use", {})  # as in another process
    with opened(by_reader(factors, embedder="words")) as memory:
        memory.add("Biscuit is allergic to chicken.", speaker="Ann")
        with pytest.raises(InvalidInput, match="not the file of this version, by its SHA-256"):
            memory.ask("What is Biscuit allergic to?")


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
        return with_reader(by_rules(), "auto", risk=0.5, embedder=embedder).point is not None

    monkeypatch.setattr("tiermem.reasoning.learned.engine.SHIPPED", factors)
    assert [orders(HASHED), orders(f"{HASHED}-int8")] == [True, True]
    assert not orders("another")
    monkeypatch.setattr("tiermem.reasoning.learned.engine.SHIPPED", tmp_path / "nowhere")
    assert not orders(HASHED)


@pytest.mark.anyio
async def test_without_weights_lines_are_in_the_order_of_the_search(
    factors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tiermem.reasoning.learned.engine.weights_here", lambda named: None)
    point = PointByReader(
        opened=_LazyReader(factors, tmp_path / "nowhere"), risk=0.5, embedder=HASHED, named=False
    )
    assert await point("Where is Oslo?", TURNS, [1.0, 2.0]) is None


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


def test_a_calibration_is_read_as_it_was_written_or_refused() -> None:
    made = Calibration(embedder="m", bias=0.5, weights={"margin": 1.0}, rules_bias=0.0,
                       rules_weights={"day": 2.0}, thresholds={"0.25": 0.8, "0.50": 0.4})  # fmt: skip
    header = {KEY: made.written()}
    assert read_calibration(header) == made
    assert read_calibration({}) is None
    assert [made.threshold(risk) for risk in (0.1, 0.25, 0.3, 0.5, 1.0)] == [2.0, 0.8, 0.8, 0.4, 0.4]
    numbers = ("0.4", "NaN"), ("0.5", "Infinity"), ("1.0", "1" + "0" * 400)
    replaced = (("margin", "mood"), ('"0.50"', '"0.5"'), ('"0.50"', '"half"'), *numbers)
    for broken in (
        *('{"embedder": "m"}', '"x"', "{", "[" * 100_000),
        *(made.written().replace(*pair) for pair in replaced),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - whichever says first that it is none
            read_calibration({KEY: broken})


def test_texts_are_put_beside_the_numbers_and_leave_them_as_they_are() -> None:
    raw = pack({"a": np.ones((2, 3), np.float32)}, {"trained_on": "[]"})
    again = with_texts(raw, {"calibration": "x"})
    tensors, header = unpack(again)
    assert header == {"trained_on": "[]", "calibration": "x"}
    assert (tensors["a"] == 1).all()
    assert with_texts(raw, {}) == raw
    with pytest.raises(ValueError, match="no file of"):
        with_texts(b"", {})


def test_an_answer_is_known_by_how_far_it_leads_the_other_turns() -> None:
    found = pointed("Oslo", "Where is she?")
    assert (found.best.turn, found.text, found.margin, found.ahead) == (1, "Oslo", 10, 10)
    assert pointed("Oslo", "Where is she?", [TURNS[1]]).ahead == float("inf")


def test_it_is_known_how_far_the_one_asked_about_leads_what_another_said() -> None:
    mine = SaidTurn(speaker="Ann", text="My sister lives in Oslo.")
    other = SaidTurn(speaker="Bo", text="My sister lives in Bergen.")

    def own(question: str, *turns: SaidTurn) -> tuple[float, float]:
        said = [turn.text.removeprefix("My sister lives in ").rstrip(".") for turn in turns]
        found = point(Pointing(*said), question, turns)  # type: ignore[arg-type]
        assert found is not None
        return found.own, found.theirs

    assert own("Where does Ann's sister live?", mine, other) == (2.0, 0.5)
    assert own("Where does Bo's sister live?", mine, other) == (-2.0, 0.5)
    assert own("Where does Ann's sister live?", mine) == (float("inf"), 0.0)
    assert own("Where does the sister live?", mine, other) == (float("inf"), 0.0)


def test_it_is_known_how_many_of_the_words_asked_for_nobody_said() -> None:
    said = evidence_of(
        ("Ann", "My grandmother sails."), ("Bo", "What is her boat called?"), ("Ann", "It is the Pixel.")
    )

    def unheard(question: str, said: list[Evidence]) -> float:
        found = propose(Pointing("Pixel"), question, said)  # type: ignore[arg-type]
        assert found is not None
        return found.signals.unheard

    assert unheard("What is the boat of Ann's grandmother called?", said) == 0
    assert unheard("What is the maiden name of Ann's grandmother?", said) == pytest.approx(2 / 3)
    assert unheard("What does Ann's cousin repair in Prague?", said) == 1
    others = evidence_of(*[("Ann", f"It is the Pixel {n}.") for n in range(READ)])
    more = evidence_of(("Ann", "My cousin repairs boats."))
    assert unheard("What does Ann's cousin repair in Prague?", [*others, *more]) == pytest.approx(1 / 3)


def test_of_likely_words_those_that_most_of_them_share_are_the_answer() -> None:
    text = "We fed the old grey parrot today."

    def words(said: str, margin: float) -> Words:
        start = text.index(said)
        return Words(text=said, turn=0, start=start, end=start + len(said), margin=margin)

    likely = [words("We fed", 2.0), words("the old grey parrot", 1.9), words("old grey parrot today", 1.8)]
    found = choose_by_agreement(likely)
    assert (found.text, found.margin) == ("the old grey parrot", 2.0)
    assert choose_by_agreement([words("We fed", 9.0), *likely[1:]]).text == "We fed"


def test_no_number_is_cut_in_two() -> None:
    turn = SaidTurn(speaker="Ann", text="The studio costs 1,200 euros a month.")
    assert pointed("1", "What does the studio cost?", [turn]).text == "1,200"


def test_what_was_said_later_as_a_change_goes_before_what_leads_it() -> None:
    def when(later: str, day: int) -> Any:
        turns = [
            SaidTurn(speaker="Ann", text="The tasting is in Oslo.", said_at=datetime(2023, 5, 8, tzinfo=UTC)),
            SaidTurn(speaker="Ann", text=later, said_at=datetime(2023, 5, day, tzinfo=UTC)),
        ]
        return point(Pointing("Oslo", "Bergen"), "Where is the tasting?", turns)  # type: ignore[arg-type]

    moved = when("The tasting is moved to Bergen.", 9)
    assert (moved.text, moved.margin, moved.is_replacing, moved.others[0].text) == ("Bergen", 8, True, "Oslo")
    assert moved.ahead == float("inf")  # Oslo is replaced, and nothing else is found
    assert when("The tasting is moved to Bergen.", 7).text == "Oslo"
    assert when("There was a tasting in Bergen.", 9).text == "Oslo"


def test_what_a_unit_repeats_of_a_turn_is_read_once() -> None:
    turn = Evidence(text="Ann: It rained. It poured.", spans=(), score=1.0, source="turn")
    unit = Evidence(text="Ann says so.", quote='Ann: "It rained."', spans=(), score=1.0, source="unit")
    other = Evidence(text="Bo: It rained.", spans=(), score=1.0, source="turn")
    assert [at for at, _ in turns_of([turn, unit, other])] == [0, 2]
    assert [at for at, _ in turns_of([unit, other, turn])] == [2, 1]
    dated = Evidence(text="Ann: It rained (7 May 2023).", spans=(), score=1.0, source="unit")
    assert [at for at, _ in turns_of([dated, turn])] == [1]
    reply = Evidence(text='Ann, asked "How was it?": It rained.', spans=(), score=1.0, source="unit")
    assert spoken_turn(reply) == SaidTurn(speaker="Ann", text="It rained.")


def test_turns_and_the_words_of_units_are_read_and_pages_are_not() -> None:
    turn = Evidence(text="Ann: It rained: twice.", spans=(), score=1.0, source="turn", said_at=SAID)
    assert spoken_turn(turn) == SaidTurn(speaker="Ann", text="It rained: twice.", said_at=SAID)
    unit = Evidence(text="Ann says so.", quote='Ann: "It rained."', spans=(), score=1.0, source="unit")
    assert spoken_turn(unit) == SaidTurn(speaker="Ann", text="It rained.")
    assert spoken_turn(Evidence(text="Ann: a", spans=(), score=1.0, source="page")) is None
    assert spoken_turn(Evidence(text="It rained.", spans=(), score=1.0, source="unit")) is None
