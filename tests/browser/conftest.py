"""A browser, and memories that it looks at; what goes wrong in the page fails the test."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.apps.http.conftest import SETTINGS, Running
from tests.browser.dialogue import tell
from tiermem.apps.cli.look import looking

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

Looks = Callable[..., Any]


class Looked(Running):
    """What `tiermem look` serves."""

    def __init__(self, store: Path, keys: Path, *, write: bool) -> None:
        service, self.token = looking(store, keys, write=write, engine="local")
        super().__init__(service)


def _is_wrong(said: Any) -> bool:
    """Whether the browser complains of anything but of a key that is asked for."""
    return said.type == "error" and "401 (Unauthorized)" not in said.text


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; without one, or without Playwright, these tests are skipped.

    It ends with its module: while it is open, a loop runs in this thread, and no test that awaits could.
    """
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs the group: pip install -e . --group browser"
    )
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"needs a browser on the PATH: one of {', '.join(NAMES)}")
    with playwright.sync_playwright() as made:
        opened = made.chromium.launch(executable_path=found, headless=True, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with the dialogue in it."""
    with tiermem.open(tmp_path / "store", **SETTINGS) as memory:
        tell(memory)
    return tmp_path / "store"


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Looked]]:
    """Serves a store to look at."""
    monkeypatch.setenv("TIERMEM_EMBEDDER", "hashed")
    running: list[Looked] = []

    def serve(store: Path, *, write: bool = False) -> Looked:
        running.append(Looked(store, tmp_path / f"keys-{len(running)}.json", write=write))
        return running[-1]

    yield serve
    for one in running:
        one.stop()


@pytest.fixture
def look(browser: Any, serving: Callable[..., Looked]) -> Iterator[Looks]:
    """Opens the page of a store. It may ask nothing of anywhere else, and nothing in it may go wrong."""
    wrong: list[str] = []
    contexts: list[Any] = []

    def opened(store: Path, *, write: bool = False, path: str = "", **given: Any) -> Any:
        looked = serving(store, write=write)
        contexts.append(browser.new_context(**given))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if _is_wrong(said) else None)
        page.on(
            "request",
            lambda asked: None if asked.url.startswith(f"{looked.url}/") else wrong.append(asked.url),
        )
        page.goto(f"{looked.url}/{path}#key={looked.token}")
        page.wait_for_selector("main h1")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []
