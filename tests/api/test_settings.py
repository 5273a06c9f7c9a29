"""What may be chosen at opening: unknown names are refused, and what is chosen reaches its part."""

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

import tiermem
from tests.api.conftest import OpenMemory, tell
from tiermem.api import arguments
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import IndexUnavailable, InvalidInput
from tiermem.index.row_index import RowIndex
from tiermem.llm import OpenAIModel
from tiermem.runtime.components import Components
from tiermem.runtime.opening import build


def opened(path: Path | str, **given: Any) -> Components:
    """The parts of a memory that was opened, and closed again."""
    options = {"embedder": HashEmbedder()} | given
    opening = arguments.opening(
        path,
        space="default",
        engine=options.pop("engine", "auto"),
        read_only=False,
        create=True,
        reindex=False,
        settings=None,
        overrides=options,
    )

    async def play() -> Components:
        components = await build(opening)
        await components.close()
        return components

    return anyio.run(play)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"index": "memroy"},
            r"index: 'memroy'.*'embedded', 'memory'.*<Qdrant server>.*did you mean 'memory'\?",
        ),
        ({"index": "Embedded"}, r"did you mean 'embedded'\?"),
        (
            {"index": "./qdrant"},
            r"'\./qdrant' is not known: give 'embedded', 'memory', 'http://<Qdrant server>', 'https",
        ),
        ({"index": "localhost:6333"}, r"'https://<Qdrant server>', 'pgvector' or 'postgresql://<database"),
        ({"index": "http://"}, r"'http://<Qdrant server>'"),
        ({"embedder": "minilm:int4"}, r"embedder: 'minilm:int4'.*did you mean 'minilm:int8'\?"),
        ({"embedder": "openai:"}, r"'openai:<model name>'"),
        ({"embedder": "gpt"}, r"'minilm', 'minilm:int8', 'openai:<model name>' or 'hashed'"),
        ({"engine": "gpt"}, r"engine 'gpt' is not known: give 'auto', 'local' or 'model'"),
        ({"engine": "modell"}, r"did you mean 'model'\?"),
        ({"router": "allways"}, r"router: 'allways'.*'llm'.*did you mean 'always'\?"),
        ({"distil": "later"}, r"distil: 'later'.*'inline', 'background' or 'deferred'"),
        ({"write_back_variant": "append"}, r"write_back_variant: 'append' is not known"),
        ({"recall_unit": 3}, r"no setting is called 'recall_unit'; did you mean 'recall_units'\?"),
        ({"model_deadline": -1}, r"model_deadline"),
        ({"distil_concurrency": 0}, r"distil_concurrency"),
    ],
)
def test_what_is_not_known_is_refused_and_says_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match=told):
        tiermem.open("store", **given)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_index_in_the_environment_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERMEM_INDEX", "memroy")
    with pytest.raises(InvalidInput, match="did you mean 'memory'"):
        tiermem.open(tmp_path / "store", embedder=HashEmbedder())


def test_the_url_of_a_server_is_asked(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match=r"127\.0\.0\.1:9"):
        tiermem.open(tmp_path / "store", embedder=HashEmbedder(), index="http://127.0.0.1:9")


@pytest.mark.local_only("the files of a store are listed")
@pytest.mark.parametrize("distil", ["inline", "deferred"])
def test_an_index_in_memory_writes_nothing_and_knows_everything_when_opened_again(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, distil: str
) -> None:
    monkeypatch.chdir(tmp_path)
    memory = open_memory(index="memory")
    tell(memory)
    memory.flush()
    found = memory.search("Biscuit"), memory.search("pottery studio roof", kind="pages")
    assert all(found)
    memory.close()
    again = open_memory(index="memory", distil=distil)
    assert (again.search("Biscuit"), again.search("pottery studio roof", kind="pages")) == found
    assert [place.name for place in tmp_path.iterdir()] == ["store"]
    assert not (tmp_path / "store" / "index").exists()


def test_an_index_in_memory_ranks_as_the_embedded_one(open_memory: OpenMemory) -> None:
    embedded, in_process = open_memory(space="a"), open_memory(space="a", path=":memory:")
    for memory in (embedded, in_process):
        tell(memory)
        memory.flush()
    for question in ("What is Biscuit allergic to?", "Who moved to Oslo?", "What did Melanie paint?"):
        left, right = embedded.search(question), in_process.search(question)
        assert [one.text for one in left] == [one.text for one in right]
        assert [one.score for one in left] == pytest.approx([one.score for one in right], abs=1e-4)


def test_words_erased_are_in_an_index_in_memory_no_more(open_memory: OpenMemory) -> None:
    memory = open_memory(index="memory")
    tell(memory)
    memory.flush()
    receipt = memory.erase(session="s1", reason="asked for")
    assert receipt.leftovers.clean
    assert not any("Biscuit" in one.text for one in memory.search("Biscuit", limit=20))


def test_a_memory_that_ends_with_the_process_has_an_index_of_the_process() -> None:
    assert isinstance(opened(":memory:").reader._index, RowIndex)


MODEL = {"model": "slow-model", "base_url": "http://127.0.0.1:9/v1"}


@pytest.mark.parametrize(("given", "reached"), [(90, 90.0), (0, None), (None, None)])
def test_the_deadline_of_a_model_call_is_a_setting(
    tmp_path: Path, given: float | None, reached: float | None
) -> None:
    model = opened(tmp_path / "store", model_deadline=given, model_timeout=600, **MODEL).model
    assert isinstance(model, OpenAIModel)
    assert (model._options.deadline, model._options.timeout) == (reached, 600)


def test_deadline_and_pages_at_once_come_from_the_environment_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERMEM_MODEL_DEADLINE", "0")
    monkeypatch.setenv("TIERMEM_DISTIL_CONCURRENCY", "7")
    components = opened(tmp_path / "store", **MODEL)
    assert isinstance(components.model, OpenAIModel)
    assert components.model._options.deadline is None
    assert components.writer._options.concurrency == 7


def test_as_many_pages_are_distilled_at_once_as_set(tmp_path: Path) -> None:
    reach = partial(opened, tmp_path / "store")
    assert reach().writer._options.concurrency == 4
    assert reach(distil_concurrency=1).writer._options.concurrency == 1
