"""The rerankers that come with TierMem: a reader's lead, a cross-encoder that is brought."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

import tiermem
from pagestore import Page, SessionId, Turn
from tests.reading.world import World, make_question
from tests.text.dialogue import page_of
from tiermem.embedding.weights import find_weights
from tiermem.errors import EmbedderUnavailable, InvalidInput, ModelUnavailable
from tiermem.reading.rerank import FoundPage
from tiermem.reading.rerank.cross_encoder import MODEL, TOKENIZER, WORD_PIECES, CrossEncoder
from tiermem.reading.rerank.learned import LearnedReranker
from tiermem.reading.turns import FoundTurn
from tiermem.reasoning.learned.factors import SHIPPED
from tiermem.text.question import Question

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("logs")]

WORDS = ("[UNK]", "[CLS]", "[SEP]", "dog", "cat", "and", "what", "of", "the")
DOG = WORDS.index("dog")


def page(*texts: str) -> Page:
    return page_of([Turn(speaker="Ann", text=text) for text in texts])


def found(text: str, similarity: float | None = 0.5, importance: float = 0.5) -> FoundPage:
    return FoundPage(page=page(text), similarity=similarity, importance=importance)


async def test_importance_is_that_of_the_units_on_a_page() -> None:
    world = await World.new()
    seen: list[float] = []

    class Sees:
        async def score(self, question: Question, found: Sequence[FoundPage]) -> Sequence[float]:
            seen.extend(one.importance for one in found)
            return [0.0] * len(found)

    await world.linked_page("Ann: a dog")
    await world.page("Ann: another dog")
    await world.research("dog", reranker=Sees(), links=False)
    assert seen == [0.5, 0.5]


def counting_dogs(outputs: int = 1, extra: str = "") -> bytes:
    """A model that gives a pair as many points as its second text says "dog"."""
    names = ["input_ids", "attention_mask", "token_type_ids", *([extra] if extra else [])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "n"]) for name in names]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", outputs])
    nodes = [
        helper.make_node("Equal", ["input_ids", "dog"], ["is"]),
        helper.make_node("Cast", ["is"], ["ones"], to=TensorProto.INT64),
        helper.make_node("Mul", ["ones", "token_type_ids"], ["second"]),
        helper.make_node("Mul", ["second", "attention_mask"], ["real"]),
        helper.make_node("Cast", ["real"], ["points"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["points", "axis"], ["sum"], keepdims=1),
        helper.make_node("Concat", ["sum"] * outputs, ["logits"], axis=1),
    ]
    held = [
        helper.make_tensor("dog", TensorProto.INT64, [], [DOG]),
        helper.make_tensor("axis", TensorProto.INT64, [1], [1]),
    ]
    graph = helper.make_graph(nodes, "dogs", inputs, [output], held)
    model: bytes = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    return model


@pytest.fixture
def brought(tmp_path: Path) -> Callable[[bytes], Path]:
    """Puts a model and a tokenizer of few words into a directory."""

    def put(model: bytes) -> Path:
        words = Tokenizer(WordLevel(dict(zip(WORDS, range(99), strict=False)), unk_token=WORDS[0]))
        words.pre_tokenizer = Whitespace()
        special = [("[CLS]", WORDS.index("[CLS]")), ("[SEP]", WORDS.index("[SEP]"))]
        words.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=special
        )
        words.save(str(tmp_path / TOKENIZER))
        (tmp_path / MODEL).write_bytes(model)
        return tmp_path

    return put


async def test_the_cross_encoder_reads_question_and_page_together(
    brought: Callable[[bytes], Path],
) -> None:
    pages = [found("cat", 0.0, 0.0), found("dog and dog", 0.0, 0.0), found("dog", 0.5, 1.0)]
    scores = await CrossEncoder(brought(counting_dogs())).score(make_question("what of dog dog dog"), pages)
    assert [*scores] == [0.0, 2.0, 1.0]
    assert await CrossEncoder(brought(counting_dogs())).score(make_question("what"), []) == []


async def test_a_long_page_is_as_good_as_its_best_window(brought: Callable[[bytes], Path]) -> None:
    late = found("cat " * (2 * WORD_PIECES) + "dog dog dog", None, 0.0)
    many = [found("dog", None, 0.0)] * 40
    scores = await CrossEncoder(brought(counting_dogs())).score(make_question("what " * 300), [late, *many])
    assert [*scores] == [3.0, *[1.0] * 40]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (b"no model", "cross-encoder in .*: "),
        (counting_dogs(outputs=2), "several numbers a pair"),
        (counting_dogs(extra="positions"), "wants positions"),
    ],
)
async def test_a_model_that_cannot_be_used_leaves_the_order_and_is_told(
    brought: Callable[[bytes], Path], model: bytes, told: str
) -> None:
    encoder = CrossEncoder(brought(model))
    with pytest.raises(ModelUnavailable, match=told):
        await encoder.score(make_question("what"), [found("dog")])
    world = await World.new()
    near = await world.page("Ann: a dog")
    far = await world.page("Ann: a dog and " + "something else " * 9)
    findings = await world.research("dog", reranker=encoder, links=False)
    assert findings.pages_read == (near.id, far.id)
    assert [one.stage for one in findings.degradations] == ["rerank"]


def test_a_directory_without_the_files_is_refused_at_opening(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"does not hold model\.onnx and tokenizer\.json"):
        tiermem.open(":memory:", embedder="hashed", reranker=f"cross-encoder:{tmp_path}")


NEAR = "the grey cat of somebody else was seen long ago in another place"
DOGS = "one cat met a dog and then a dog and then yet another dog in the garden"


def test_a_search_for_pages_is_reranked_too(brought: Callable[[bytes], Path]) -> None:
    def told(**given: Any) -> list[str]:
        with tiermem.open(":memory:", embedder="hashed", engine="local", **given) as memory:
            for number, text in enumerate((NEAR, DOGS, "I saw a horse")):
                memory.add(text, speaker="Ann", session=f"s{number}", said_at="2024-03-01")
            memory.flush()
            found = memory.search("Where is the grey cat?", kind="pages", limit=2)
            return [one.text.partition(": ")[2].strip() for one in found]

    assert told() == [NEAR, DOGS]
    assert told(reranker=f"cross-encoder:{brought(counting_dogs())}") == [DOGS, NEAR]


class Shortest:
    """Shorter turns first; pages as they come. It remembers what it was asked."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[list[str]] = []

    async def score(self, question: Question, found: Sequence[FoundPage]) -> Sequence[float]:
        return [float(-place) for place in range(len(found))]

    async def score_turns(self, question: Question, found: Sequence[FoundTurn]) -> Sequence[float]:
        self.asked.append([one.line.turn.text for one in found if one.line.turn])
        if self.error:
            raise self.error
        return [-float(len(text)) for text in self.asked[-1]]


DOG_TURNS = ("Ann: a dog", "Bo: a dog and a cat", "Ann: a dog, and a horse, and what else")


async def turns_of_dogs(reranker: Shortest, **options: Any) -> tuple[list[str], list[float], list[str]]:
    world = await World.new()
    for number, line in enumerate(DOG_TURNS):
        await world.page(line, session=SessionId(f"s{number}"))
    options = {"sure_lead": math.inf, "protected_similarity": 2.0} | options
    lookup = await world.look_up(reranker=reranker, **options)
    found = await lookup.turns(make_question("dog"), limit=9)
    told = [one.reason for one in found.degradations]
    pages = await lookup.pages(make_question("dog"), limit=9, mode="hybrid")
    assert [hit.id for hit in pages.pages] == [turn.page.id for turn in found.turns]
    texts = [turn.line.turn.text for turn in found.turns if turn.line.turn]
    return texts, [turn.score for turn in found.turns], told


async def test_the_first_turns_change_places_and_pages_follow() -> None:
    plain, scores, _ = await turns_of_dogs(Shortest(), rerank_turns=1)
    assert scores == sorted(scores, reverse=True)
    shortest_first = sorted(plain, key=len)
    assert shortest_first != plain
    reranker = Shortest()
    assert await turns_of_dogs(reranker) == (shortest_first, scores, [])
    assert reranker.asked == [plain]  # once, whatever is looked up by it
    some, _, _ = await turns_of_dogs(Shortest(), rerank_turns=2)
    assert some == [*sorted(plain[:2], key=len), plain[2]]


async def test_a_sure_search_is_not_reranked_and_a_near_turn_not_pushed_back() -> None:
    plain, *_ = await turns_of_dogs(Shortest(), rerank_turns=1)
    reranker = Shortest()
    assert (await turns_of_dogs(reranker, sure_lead=0.0))[0] == plain
    assert reranker.asked == []
    assert (await turns_of_dogs(Shortest(), protected_similarity=0.5))[0] == plain


async def test_a_reranker_of_turns_that_is_down_leaves_the_order_and_is_told() -> None:
    plain, scores, _ = await turns_of_dogs(Shortest(), rerank_turns=1)
    assert await turns_of_dogs(Shortest(ModelUnavailable("down"))) == (plain, scores, ["down"])


async def test_a_reader_that_is_none_is_refused_or_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no reader at"):
        tiermem.open(":memory:", embedder="hashed", reranker="learned", reader=str(tmp_path / "none"))
    damaged = tmp_path / "reader.safetensors"
    damaged.write_bytes(b"nothing of it")
    with pytest.raises(ModelUnavailable, match=r"reader\.safetensors"):
        await LearnedReranker(damaged).score_turns(make_question("dog"), [])
    pages = [found("cat"), found("dog")]
    assert [*await LearnedReranker(SHIPPED).score(make_question("dog"), pages)] == [0.0, -1.0]


def test_the_shipped_reader_puts_the_turn_ahead_that_answers() -> None:
    try:
        find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    lines = ("My birthday is in May, I love birthdays.", "I spend it in Lisbon with my aunt.")
    asked = "Where does Ann spend her birthday?"

    def first(**given: Any) -> str:
        with tiermem.open(":memory:", index="memory", **given) as memory:
            for number, text in enumerate(lines):
                memory.add(text, speaker="Ann", session=f"s{number}", said_at="2024-03-01")
            return memory.search(asked, kind="turns", limit=2)[0].text

    assert "May" in first()
    assert "Lisbon" in first(reranker="learned")
