"""A store whose index another version made: it is made again when it is opened for writing."""

import json
from pathlib import Path

import tiermem
from tiermem.embedding.hashed import HashEmbedder


def test_a_store_is_searched_by_meaning_after_the_schema_of_its_index_changed(tmp_path: Path) -> None:
    def open_memory(*, read_only: bool = False) -> tiermem.Memory:
        return tiermem.open(tmp_path, engine="local", embedder=HashEmbedder(), read_only=read_only)

    with open_memory() as memory:
        memory.add("The ferry leaves at nine.", speaker="Ann")
        memory.flush()
        (before,) = memory.search("ferry")
    description = tmp_path / "index" / "index.json"
    described = json.loads(description.read_text())
    description.write_text(json.dumps({**described, "schema": 1}))
    with open_memory(read_only=True) as memory:
        (by_words,) = memory.search("ferry")
        assert (by_words.text, by_words.similarity) == (before.text, None)
    with open_memory() as memory:
        memory.flush()
        (after,) = memory.search("ferry")
        assert (after.text, after.similarity) == (before.text, before.similarity)
        assert memory.stats().index_pending == 0
