"""Makes `look.png` beside it: the page of `tiermem look` with a question of the demo.

python docs/images/look.py, with Chromium on the PATH and the extra `browser`
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_suffix(".png")
QUESTION = "What is Mila allergic to?"
PATIENCE = 120_000
"""Milliseconds that a slow machine may take, which loads the weights for the first question."""
SIZE = {"width": 1100, "height": 720}


def main() -> None:
    """Look at the demo's memory, ask, and keep what is to be seen."""
    with TemporaryDirectory() as folder:
        store = str(Path(folder, "memory"))
        _run("demo", "--store", store, "--engine", "local").communicate()
        looking = _run("look", store, "--space", "demo", "--no-browser", "--engine", "local")
        assert looking.stdout is not None  # noqa: S101
        try:
            draw(looking.stdout.readline().strip())
        finally:
            looking.send_signal(signal.SIGINT)
            looking.wait()


def draw(address: str) -> None:
    """The picture of it."""
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.set_default_timeout(PATIENCE)
        page.goto(address)
        page.get_by_label("Question").fill(QUESTION)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.wait_for_selector(".answer .passage mark")
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=PICTURE)
        browser.close()


def _run(*arguments: str) -> subprocess.Popen[str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("TIERMEM_")}
    command = [sys.executable, "-m", "tiermem", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=known)  # noqa: S603


if __name__ == "__main__":
    main()
