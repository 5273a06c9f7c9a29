"""What every embedder must do, as tests to inherit.

    class TestMyEmbedder(EmbedderContract):
        def new_embedder(self) -> Embedder:
            return MyEmbedder()

Where loading is dear, `new_embedder` may give the same one again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import anyio
import pytest

from tiermem.embedding.interface import Embedder, KnowsWords
from tiermem.llm.meter import Meter, paid_by

TEXTS = (
    "Ann planted tomatoes in her garden.",
    "Ann planted tomatoes in the garden",
    "Bob is afraid of thunderstorms, which nobody else ever was.",
    "Yes.",
)
ODD = {
    "empty": "",
    "blank": " \n\t ",
    "nul": "a\x00b nul",
    "surrogates": "\ud800 lone \udfff surrogates",
    "japanese": "日本語のテキスト",
    "emoji": "🍅" * 300,
    "one-long-word": "x" * 5000,
    "a-hundred-kilobytes": "word " * 20_000,
}
CLOSE = 1e-4
"""By how much two cosines, or two numbers of a vector, may differ that are the same but for rounding."""


class EmbedderContract:
    """Inherit, say how to make one, and the embedder is specified."""

    def new_embedder(self) -> Embedder:
        raise NotImplementedError

    def embedded(self, *texts: str) -> list[list[float]]:
        """Vectors in an event loop of their own."""
        return anyio.run(self.new_embedder().embed, texts)

    def test_its_name_and_its_dimensions_are_known_before_anything_is_embedded(self) -> None:
        embedder, other = self.new_embedder(), self.new_embedder()
        assert embedder.name.strip()
        assert embedder.dimensions > 0
        assert (embedder.name, embedder.dimensions) == (other.name, other.dimensions)

    def test_every_text_has_a_vector_of_unit_length_and_the_promised_dimensions(self) -> None:
        vectors = self.embedded(*TEXTS)
        assert [len(vector) for vector in vectors] == [self.new_embedder().dimensions] * len(TEXTS)
        assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1.0] * len(TEXTS), abs=CLOSE)

    def test_no_texts_have_no_vectors(self) -> None:
        assert self.embedded() == []

    def test_a_vector_is_that_of_its_text_whatever_is_embedded_with_it(self) -> None:
        together = self.embedded(*TEXTS, *TEXTS[::-1])
        for text, vector, again in zip(TEXTS, together, together[::-1], strict=False):
            assert again == pytest.approx(vector, abs=CLOSE)
            assert self.embedded(text)[0] == pytest.approx(vector, abs=CLOSE)

    def test_texts_that_say_the_same_are_nearer_than_others(self) -> None:
        one, alike, other, _ = self.embedded(*TEXTS)
        assert cosine(one, alike) > cosine(one, other) + CLOSE

    @pytest.mark.parametrize("text", ODD.values(), ids=ODD)
    def test_odd_text_is_embedded_like_any(self, text: str) -> None:
        vector, plain = self.embedded(text, TEXTS[0])
        assert math.hypot(*vector) == pytest.approx(1.0, abs=CLOSE)
        assert plain == pytest.approx(self.embedded(TEXTS[0])[0], abs=CLOSE)

    def test_concurrent_callers_get_vectors_of_their_own_texts(self) -> None:
        embedder = self.new_embedder()
        found: dict[str, list[list[float]]] = {}

        async def call(text: str) -> None:
            found[text] = await embedder.embed([text])

        async def play() -> None:
            async with anyio.create_task_group() as tasks:
                for text in TEXTS:
                    tasks.start_soon(call, text)

        anyio.run(play)
        for text in TEXTS:
            assert found[text][0] == pytest.approx(self.embedded(text)[0], abs=CLOSE)

    def test_what_is_embedded_is_metered(self) -> None:
        with paid_by(Meter()) as meter:
            self.embedded(*TEXTS)
        assert meter.total().embedding_tokens > 0

    def test_where_it_knows_words_a_word_is_most_like_itself(self) -> None:
        embedder = self.new_embedder()
        if not isinstance(embedder, KnowsWords):
            pytest.skip("it has no vectors of single words, which is optional")

        async def play(words: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
            lexicon = await embedder.lexicon()
            assert await embedder.lexicon() is lexicon
            return lexicon.similarity(words, texts)

        (row,) = anyio.run(play, ["garden"], ["her garden", "a thunderstorm", ""])
        assert row[0] == pytest.approx(1.0, abs=CLOSE)
        assert 0 <= row[1] < row[0]
        assert row[2] == 0


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Of vectors of unit length."""
    return math.fsum(a * b for a, b in zip(left, right, strict=True))
