"""The page to look at a memory with: what is served of it, what it asks for, and what it may do."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

import tiermem
from tests.apps.http.conftest import SAID, SETTINGS, Serving, bearer
from tests.test_installing import wheel_files
from tiermem.apps.cli.app import app
from tiermem.apps.cli.look import looking
from tiermem.apps.http.app import application
from tiermem.apps.http.assets import assets
from tiermem.apps.http.keys import Keys
from tiermem.apps.http.service import OPERATIONS

pytestmark = pytest.mark.anyio

FILES = {name: asset.content.decode() for name, asset in assets().items()}
SCRIPTS = {name: text for name, text in FILES.items() if name.endswith(".js")}
CALL = re.compile(r"""\b(?:call|following)\(\s*"(\w+)"(?:,\s*(?:\w+ \? \{\} : )?\{([^{}]*)\})?""")
GIVEN = re.compile(r"(?:^|,)\s*(\w+)(?=\s*[:,]|\s*$)")
IMPORT = re.compile(r"""import \{([^}]*)\} from "\./([\w.]+)";""")
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
ADDRESS = re.compile(r"""\b(?:https?|wss?):|\b(?:data|blob):\S|["'(]//""")
AS_HTML = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\bFunction\(|srcdoc|DOMParser"
)
INLINE = re.compile(r"""<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:""")
REFERENCE = re.compile(r"""(?:href|src)="(page/[^"]+)\"""")


async def test_the_page_and_each_of_its_files_are_served_and_confined(serving: Serving) -> None:
    types = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    async with serving() as client:
        for path, name in {"/": "index.html", **{f"/page/{name}": name for name in FILES}}.items():
            answer = await client.get(path)
            assert (answer.status_code, answer.text) == (200, FILES[name])
            assert answer.headers["content-type"].partition(";")[0] == types[name.rpartition(".")[2]]
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
            assert "unsafe" not in policy
            assert "require-trusted-types-for 'script'; trusted-types 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["x-content-type-options"] == "nosniff"
            again = await client.get(path, headers={"if-none-match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            newer = await client.get(path, headers={"if-none-match": '"another version"'})
            assert (newer.status_code, newer.text) == (200, FILES[name])
        nothing = await client.get("/page/other.js")
        assert (nothing.status_code, nothing.json()["error"]) == (404, "UnknownId")


async def test_the_page_is_there_for_who_has_no_key_and_shows_nothing_of_anybody(
    serving: Serving, keys: Keys
) -> None:
    keys.make("ann", spaces=["ann"], rights=["read"])
    async with serving() as client:
        assert (await client.get("/")).status_code == 200
        assert (await client.get("/v1/spaces")).status_code == 401


def test_the_page_names_no_address_of_elsewhere_and_makes_no_html_of_text() -> None:
    for name, text in FILES.items():
        own = text.replace("http://www.w3.org/2000/svg", "")
        assert ADDRESS.findall(own) == [], name
        assert AS_HTML.findall(text) == [], name
    assert INLINE.findall(FILES["index.html"]) == []
    assert {f"page/{name}" for name in FILES} >= set(REFERENCE.findall(FILES["index.html"]))


def test_what_the_scripts_call_is_an_operation_that_takes_what_it_is_given() -> None:
    called = {(name, given) for text in SCRIPTS.values() for name, given in CALL.findall(text)}
    assert {"ask", "audit", "answers", "page", "pages", "units", "trail", "search", "recall", "stats"} <= {
        name for name, _ in called
    }
    assert {"verify", "erase", "withdraw", "reinstate", "omissions"} <= {name for name, _ in called}
    for name, given in called:
        assert set(GIVEN.findall(given)) <= OPERATIONS[name].signature.parameters.keys(), (name, given)


def test_what_a_script_imports_is_exported_where_it_says() -> None:
    exported = {name: set(EXPORT.findall(text)) for name, text in SCRIPTS.items()}
    for name, text in SCRIPTS.items():
        for names, file in IMPORT.findall(text):
            assert {one.strip() for one in names.split(",")} <= exported[file], (name, file)


def test_the_wheel_brings_the_page() -> None:
    folder = Path(tiermem.__file__).parent / "apps" / "http" / "page"
    assert {file.name for file in wheel_files().values() if file.parent == folder} == FILES.keys()


@asynccontextmanager
async def looked_at(folder: Path, *, write: bool) -> AsyncIterator[httpx.AsyncClient]:
    """A client of what `tiermem look` serves, with the key that stands in its address."""
    store = folder / "store"
    async with await tiermem.AsyncMemory.open(store, **SETTINGS) as memory:
        await memory.add(SAID, speaker="Ann", said_at="2023-05-08T13:56")
        await memory.flush()
    service, token = looking(store, folder / "keys.json", write=write, engine="local")
    served = application(service)
    async with served.router.lifespan_context(served):
        transport = httpx.ASGITransport(served)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:1", headers=bearer(token)
        ) as client:
            yield client


async def posted(client: httpx.AsyncClient, path: str, **given: Any) -> Any:
    answer = await client.post(f"/v1/{path}", json=given)
    return answer.json() if answer.status_code == 200 else answer.status_code


async def test_looking_is_read_only_unless_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    async with looked_at(tmp_path, write=False) as client:
        assert (await posted(client, "open"))["may"] == ["read"]
        answer = await posted(client, "ask", question="What is Biscuit allergic to?")
        assert (answer["said"][0]["text"], answer["recorded"]) == (SAID, False)
        (unit,) = await posted(client, "units")
        assert await posted(client, "erase", session="main", reason="asked to") == 403
        assert await posted(client, "withdraw", unit_id=unit["id"], reason="asked to") == 403
        assert (await client.post("/v1/units", headers={"authorization": ""})).status_code == 401
        assert await posted(client, "units") == [unit]
        assert await posted(client, "answers") == []


async def test_looking_with_write_takes_back_and_erases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    async with looked_at(tmp_path, write=True) as client:
        assert (await posted(client, "open"))["may"] == ["read", "write", "erase"]
        (unit,) = await posted(client, "units")
        await posted(client, "withdraw", unit_id=unit["id"], reason="asked to")
        assert await posted(client, "units") == []
        assert (await posted(client, "erase", session="main", reason="asked to"))["leftovers"]["found"] == []
        assert await posted(client, "backup") == 403


def test_looking_at_what_is_no_store_says_so_and_makes_none(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["look", str(tmp_path / "none"), "--no-browser"])
    assert done.exit_code == 1
    assert "there is no store at" in done.stderr
    assert not (tmp_path / "none").exists()
