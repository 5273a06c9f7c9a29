"""Search and pictures of the documentation work in a browser: a few pages are built with `docs/conf.py`."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "index.md": "# Home\n\n```{toctree}\n:glob:\n\n*/*\n```\n\n![Terminal](ask.svg)\n\n![Chart](chart.svg)\n",
    "decisions/0001-bicycles.md": "# Bicycles\n\nBicycles are kept. Only here: tandem.\n",
    "guide/riding.md": "# To ride\n\nAmong much else, bicycles are mentioned.\n",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages as HTML."""
    pytest.importorskip("sphinx", reason="needs the group: pip install -e . --group browser")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name, text in PAGES.items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    shutil.copy(DOCS / "images/ask.svg", source)
    shutil.copy(DOCS / "results/speed-search.svg", source / "chart.svg")
    folders = ["-c", str(DOCS), str(source), str(target)]
    subprocess.run([sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", *folders], check=True)
    return target


@pytest.fixture
def page(browser: Any) -> Any:
    """A page of a browser whose system is light."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    yield context.new_page()
    context.close()


def titles_found(page: Any, built: Path, query: str) -> list[str]:
    """The titles that the built search lists, in order."""
    page.goto(f"{(built / 'search.html').as_uri()}?q={query}")
    page.wait_for_function("document.querySelector('.search-summary')?.innerText.includes('finished')")
    return [str(title) for title in page.locator("ul.search li a").all_inner_texts()]


def test_decisions_are_found_after_all_other_pages(page: Any, built: Path) -> None:
    found = titles_found(page, built, "bicycles")
    assert {*found[:2]} == {"Home", "To ride"}
    assert {*found[2:]} == {"Bicycles"}
    assert titles_found(page, built, "tandem") == ["Bicycles"]


@pytest.mark.parametrize("name", ["ask", "chart"])
def test_a_picture_is_dark_where_the_page_is_whether_by_its_switch_or_by_the_system(
    page: Any, built: Path, name: str
) -> None:
    page.goto((built / "index.html").as_uri())

    def picture(scheme: str, theme: str) -> Any:
        page.emulate_media(color_scheme=scheme)
        page.evaluate("theme => { document.body.dataset.theme = theme }", theme)
        return page.locator(f"img[src$='{name}.svg']").screenshot()

    light, dark = picture("light", "auto"), picture("dark", "auto")
    assert light != dark
    assert picture("light", "dark") == dark
    assert picture("dark", "light") == light
