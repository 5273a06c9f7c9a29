"""What other memories hold: words as who said them, facts as what the memory says, and proved as that."""

import io
import json
import random
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import tiermem
from pagestore import Turn
from tests.dialogue.mutations import mutated
from tests.engines import quoting_engine
from tiermem.dialogue import Conversation, read_dialogue
from tiermem.dialogue import database as foreign
from tiermem.dialogue.database import as_json
from tiermem.dialogue.formats.mem0 import TABLES as TABLES_READ
from tiermem.dialogue.formats.memories import ROLE
from tiermem.embedding.hashed import HashEmbedder
from tiermem.errors import NotDialogue, TierMemError
from tiermem.trust import DEFAULT_TRUST, kind_of_role

FILES = Path(__file__).parent / "memories"
SHAPES = sorted(path for path in FILES.iterdir() if path.suffix in (".json", ".af"))


def turns(conversation: Conversation) -> dict[str, list[Turn]]:
    return {session.session: list(session.turns) for session in conversation.sessions}


def read(name: str) -> dict[str, list[Turn]]:
    (conversation,) = read_dialogue(FILES / name)
    return turns(conversation)


def lines_of(said: dict[str, list[Turn]]) -> dict[str, list[tuple[str, str | None, str]]]:
    return {name: [(turn.speaker, turn.role, turn.text) for turn in held] for name, held in said.items()}


def test_of_mem0_facts_are_its_own_and_what_was_kept_as_said_is_its_speakers() -> None:
    said = read("mem0.json")
    assert lines_of(said) == {
        "mem0:ann": [
            ("assistant", "assistant", "Lovely."),
            ("mem0", "memory", "User's dog Biscuit is allergic to chicken"),
            ("user", "user", "I moved to Oslo in March."),
            ("mem0", "memory", "Likes green tea"),  # changed since: nobody's words any more
        ]
    }
    fact = said["mem0:ann"][1]
    assert fact.metadata == {
        "from": "mem0",
        "user_id": "ann",
        "run_id": "s1",
        "attributed_to": "user",
        "metadata": {"topic": "dogs"},
        "id": "00000000-0000-4000-8000-000000000001",
    }
    assert fact.said_at is not None
    assert fact.said_at.isoformat() == "2024-05-08T13:51:00+00:00"


TABLES = """
CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
  created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_scope TEXT, role TEXT, content TEXT, name TEXT,
  created_at DATETIME);
"""
"""As mem0ai 2.2.1 makes them."""
DAY, NEXT, SCOPE = "2024-05-08T13:56:00+00:00", "2024-05-09T09:00:00+00:00", "run_id=s1&user_id=ann"
HISTORY = [
    ("h1", "m1", None, "User's dog Biscuit is allergic to chicken", "ADD", DAY, None, 0, None, None),
    ("h2", "m2", None, "Likes tea", "ADD", DAY, DAY, 0, None, "user"),
    ("h3", "m2", "Likes tea", "Likes green tea", "UPDATE", DAY, NEXT, 0, None, "user"),
    ("h4", "m3", None, "Lives in Lisbon", "ADD", DAY, None, 0, None, None),
    ("h5", "m3", "Lives in Lisbon", None, "DELETE", DAY, NEXT, 1, None, None),
]
MESSAGES = [
    ("x1", SCOPE, "user", "My dog Biscuit is allergic to chicken.", "Ann", DAY),
    ("x2", SCOPE, "assistant", "Noted!", None, DAY),
]


def database(path: Path, script: str = TABLES) -> Path:
    with closing(sqlite3.connect(path)) as made:
        made.executescript(script)
        if script == TABLES:
            made.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", HISTORY)
            made.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", MESSAGES)
        made.commit()
    return path


def test_of_mem0s_database_the_words_are_read_and_memories_as_they_stand(tmp_path: Path) -> None:
    (conversation,) = read_dialogue(database(tmp_path / "history.db"))
    assert lines_of(turns(conversation)) == {
        "mem0:run_id=s1&user_id=ann": [
            ("Ann", "user", "My dog Biscuit is allergic to chicken."),
            ("assistant", "assistant", "Noted!"),
        ],
        "mem0": [
            ("mem0", "memory", "User's dog Biscuit is allergic to chicken"),
            ("mem0", "memory", "Likes tea"),
            ("mem0", "memory", "Likes green tea"),
        ],
    }


def test_another_database_is_no_dialogue(tmp_path: Path) -> None:
    other = database(tmp_path / "points.sqlite", "CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
    with pytest.raises(NotDialogue, match="'history'"):
        read_dialogue(other)
    view = database(tmp_path / "view.db", "CREATE VIEW history AS SELECT 1; CREATE VIEW messages AS SELECT 1")
    with pytest.raises(NotDialogue, match="'history'"):
        read_dialogue(view)
    (tmp_path / "cut.db").write_bytes(database(tmp_path / "whole.db").read_bytes()[:5_000])
    with pytest.raises(NotDialogue, match=r"cut\.db"):
        read_dialogue(tmp_path / "cut.db")


MESSAGE = "INSERT INTO messages VALUES ('x', 's', 'user', 'My dog is called Biscuit.', 'Ann', NULL);"
"""A message in Mem0's tables."""
ROWS = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
INSERT INTO messages (id) SELECT i FROM n;
"""


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (
            "ALTER TABLE messages ADD COLUMN big TEXT AS (hex(zeroblob(400000000))) VIRTUAL;",
            "computes.*'big'",
        ),
        ("ALTER TABLE messages ADD COLUMN one INTEGER AS (1) VIRTUAL;", "computes its column 'one'"),
        (
            "DROP TABLE messages; CREATE TABLE messages (id TEXT, up TEXT AS (upper(id)) STORED);",
            "computes its column 'up'",
        ),
        ("DROP TABLE messages; CREATE VIEW messages AS SELECT * FROM history;", "without a table 'messages'"),
        (
            "DROP TABLE messages; CREATE VIRTUAL TABLE messages USING fts5(role);",
            "without a table 'messages'",
        ),
        (
            f"{ROWS}ALTER TABLE messages ADD COLUMN big TEXT DEFAULT '{'x' * 100_000}';",
            "more than 4 times its size",
        ),
        (
            "DROP TABLE messages; CREATE TABLE messages (" + ", ".join(f"c{n}" for n in range(70)) + ");",
            "many",
        ),
    ],
)
def test_a_database_that_computes_more_than_it_holds_is_refused(
    tmp_path: Path, script: str, told: str
) -> None:
    file = database(tmp_path / "history.db", f"{TABLES}{MESSAGE}{script}")
    data = file.read_bytes()
    tracemalloc.start()
    try:
        with pytest.raises(NotDialogue, match=told):
            read_dialogue(file)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert file.read_bytes() == data


def test_a_view_that_says_it_is_a_table_is_not_read(tmp_path: Path) -> None:
    crossed = "CREATE VIEW messages AS SELECT upper(a.id) id FROM history a, history b"
    file = database(tmp_path / "history.db", f"{TABLES}{crossed.replace('messages', 'message5')}")
    with closing(sqlite3.connect(file)) as made:
        made.execute("PRAGMA writable_schema = ON")
        made.execute("DELETE FROM sqlite_master WHERE name IN ('messages', 'sqlite_autoindex_messages_1')")
        made.execute(
            "UPDATE sqlite_master SET type = 'table', name = 'messages', tbl_name = 'messages', "
            "rootpage = 2, sql = ? WHERE name = 'message5'",
            (crossed,),
        )
        made.commit()
    with pytest.raises(NotDialogue, match="SQLite"):
        read_dialogue(file)


@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE messages; CREATE VIEW messages AS SELECT name FROM sqlite_master;",
        "DROP TABLE messages; CREATE VIEW messages AS SELECT upper(id) FROM history;",
    ],
)
def test_the_authorizer_allows_no_function_and_no_other_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    monkeypatch.setattr(foreign, "_check_table", lambda *_: None)
    with pytest.raises(NotDialogue, match=r"not authorized|prohibited"):
        read_dialogue(database(tmp_path / "history.db", f"{TABLES}{script}"))


def test_a_database_that_takes_too_many_steps_is_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = database(tmp_path / "history.db")
    with monkeypatch.context() as patched:
        patched.setattr(foreign, "_STEPS", 0)
        patched.setattr(foreign, "_SPARE", 0)
        patched.setattr(foreign, "_TIMES", 1000)
        patched.setattr(foreign, "_LOOKS_EVERY", 1)
        with pytest.raises(NotDialogue, match="interrupted"):
            read_dialogue(file)
    assert read_dialogue(file)


def test_of_graphiti_episodes_are_words_and_edges_what_it_says() -> None:
    assert lines_of(read("graphiti.json")) == {
        "zep:ann": [
            ("Ann", None, "My dog Biscuit is allergic to chicken."),
            ("assistant", "assistant", "Noted."),
            ("a note", "tool", "The boat is in the shed."),
            ("zep", "memory", "Biscuit is allergic to chicken"),
        ]
    }


def test_pages_of_zep_are_read_by_thread_and_by_graph() -> None:
    assert lines_of(read("zep-messages.json")) == {
        "zep:t1": [
            ("Ann", "user", "My dog Biscuit is allergic to chicken."),
            ("assistant", "assistant", "Noted."),
        ]
    }
    assert lines_of(read("zep-episodes.json")) == {"zep:g1": [("a note", "tool", "The boat is in the shed.")]}
    assert lines_of(read("zep-edges.json")) == {"zep:g1": [("zep", "memory", "Ann lives in Oslo")]}


def test_of_an_agent_file_messages_are_words_and_blocks_what_letta_says() -> None:
    assert lines_of(read("letta.af")) == {
        "letta:LettaBot": [
            ("user", "user", "My dog Biscuit is allergic to chicken."),
            (
                "assistant",
                "assistant",
                'I will note that.\n[calls memory_insert({"label": "human", '
                '"new_str": "Dog Biscuit: no chicken"})]',
            ),
        ],
        "letta:LettaBot blocks": [("letta", "memory", "First name: Ann\nDog Biscuit: no chicken")],
    }


def test_an_older_agent_file_is_one_agent() -> None:
    older = {
        "agent_type": "memgpt_agent",
        "name": "Sam",
        "core_memory": [
            {"label": "human", "value": "First name: Ann", "updated_at": "2025-08-14T22:49:59.570989+00:00"}
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello."}], "created_at": None}],
    }
    (conversation,) = read_dialogue(io.StringIO(json.dumps(older)))
    assert lines_of(turns(conversation)) == {
        "letta:Sam": [("user", "user", "Hello.")],
        "letta:Sam blocks": [("letta", "memory", "First name: Ann")],
    }


def test_of_langmem_every_item_is_what_it_says_by_namespace() -> None:
    assert lines_of(read("langmem.json")) == {
        "langmem:memories/ann": [
            ("langmem", "memory", "Prefers dark mode"),
            ("langmem", "memory", "Likes sushi"),
        ],
        "langmem:profile/ann": [("langmem", "memory", "name: Ann\ncity: Oslo")],
    }


def test_of_hindsight_valid_units_are_what_it_says() -> None:
    said = read("hindsight.json")
    assert lines_of(said) == {"hindsight": [("hindsight", "memory", "Ann works at Acme")]}
    assert said["hindsight"][0].metadata["kind"] == "world"


@pytest.mark.parametrize("name", ["mem0.json", "langmem.json", "hindsight.json", "zep-edges.json"])
def test_one_entry_a_line_is_read_alike(name: str) -> None:
    document = json.loads((FILES / name).read_text())
    held = document if isinstance(document, list) else document.get("results") or document["items"]
    stream = io.BytesIO("".join(json.dumps(entry) + "\n" for entry in held).encode())
    stream.name = "dump.jsonl"
    (conversation,) = read_dialogue(stream)
    assert turns(conversation) == read(name)


def test_what_a_memory_says_is_trusted_as_a_tool_is() -> None:
    assert kind_of_role(ROLE) == "memory"
    assert DEFAULT_TRUST.of(Turn(speaker="mem0", text="x", role=ROLE)) == "tool"


def test_a_damaged_file_is_no_dialogue_and_never_a_surprise(tmp_path: Path) -> None:
    chance = random.Random(4)
    refused = 0
    tables = as_json(database(tmp_path / "history.db").read_bytes(), TABLES_READ).encode()
    for data in (*(path.read_bytes() for path in SHAPES), tables):
        for _ in range(150):
            stream = io.BytesIO(mutated(chance, "memory.json", data)[1])
            try:
                read_dialogue(stream)
            except TierMemError:
                refused += 1
    assert refused > 100


def test_what_only_another_memory_says_has_a_caution_until_somebody_said_it(tmp_path: Path) -> None:
    with tiermem.open(tmp_path / "memory", engine=quoting_engine(), embedder=HashEmbedder()) as memory:
        for session, held in read("mem0.json").items():
            assert memory.add(held, session=session).new == 4
            assert memory.add(held, session=session).known == 4
        memory.flush()
        units = {unit.text: (unit.support, unit.trust) for unit in memory.units()}
        assert units["mem0: User's dog Biscuit is allergic to chicken"] == ("worded", "tool")
        question = "What is Biscuit allergic to?"
        given = memory.ask(question)
        assert "chicken" in given.text
        assert (given.support, given.unsupported) == ("quoted", ())
        assert [one.code for one in given.cautions] == ["memory"]
        assert [(one.speaker, one.support, one.trust) for one in given.citations] == [
            ("mem0", "worded", "tool")
        ]
        assert "mem0" in memory.audit(given.id).explain()
        assert memory.ask(question, min_trust="user").abstained
        assert memory.search("Biscuit", where={"from": "mem0"})

        memory.add("My dog Biscuit is allergic to chicken.", speaker="Ann", session="ann")
        memory.flush()
        proved = memory.ask(question)
        assert (proved.text, proved.support) == ("My dog Biscuit is allergic to chicken.", "quoted")
        assert proved.sentences
        assert (proved.unsupported, proved.cautions) == ((), ())
        assert "Ann" in {one.speaker for one in proved.citations}


def test_where_only_what_is_proved_may_be_answered_another_memory_is_not_enough(tmp_path: Path) -> None:
    with tiermem.open(
        tmp_path / "memory", engine=quoting_engine(), embedder=HashEmbedder(), unproved="abstain"
    ) as memory:
        memory.add(read("mem0.json")["mem0:ann"])
        memory.flush()
        assert memory.ask("What is Biscuit allergic to?").abstained


def _mem0_facts(*users: str) -> Any:
    rows = [{"id": f"{n}", "memory": f"User {n} sails", "user_id": user} for n, user in enumerate(users)]
    return {"results": rows}


def _mem0_database(*users: str) -> Any:
    messages = [
        {"id": f"{n}", "role": "user", "content": f"I sail {n}", "session_scope": f"run_id=r&user_id={user}"}
        for n, user in enumerate(users)
    ]
    return {"history": [{"memory_id": "m", "new_memory": "User sails"}], "messages": messages}


def _zep_edges(*users: str) -> Any:
    return [
        {"uuid": f"{n}", "fact": f"Sails {n}", "source_node_uuid": "s", "group_id": user}
        for n, user in enumerate(users)
    ]


def _langmem_items(*users: str) -> Any:
    return [
        {"namespace": ["memories", user], "key": f"{n}", "value": {"content": f"Sails {n}"}}
        for n, user in enumerate(users)
    ]


@pytest.mark.parametrize("export", [_mem0_facts, _mem0_database, _zep_edges, _langmem_items])
@pytest.mark.parametrize(
    ("users", "noted"),
    [
        (("ines", "rui"), ("ines", "rui", "2 ")),
        (("rui", "ines", "rui", "tomas"), ("ines", "rui", "tomas", "3 ")),
        (("ines",), ()),
        (("ines", "ines"), ()),
    ],
)
def test_an_export_of_several_users_names_them(
    tmp_path: Path, export: Any, users: tuple[str, ...], noted: tuple[str, ...]
) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(export(*users)))
    (conversation,) = read_dialogue(file)
    assert len(conversation.notes) == bool(noted)
    assert all(name in note for name in (*noted, "--space") for note in conversation.notes)


def test_without_a_model_every_imported_memory_is_a_unit(tmp_path: Path) -> None:
    with tiermem.open(tmp_path / "memory", engine="local", embedder=HashEmbedder()) as memory:
        facts = [f"The locker {number} belongs to Pavel's sister." for number in range(12)]
        memory.add([{"speaker": "mem0", "role": ROLE, "text": fact} for fact in facts])
        memory.flush()
        kept = {unit.text: (unit.made_by, unit.support) for unit in memory.units()}
        assert kept == {f"mem0: {fact}": ("imported", "worded") for fact in facts}
        found = memory.search("locker 7", limit=3)
        assert [one.text for one in found if "locker 7 " in one.text] == [f"mem0: {facts[7]}"]
