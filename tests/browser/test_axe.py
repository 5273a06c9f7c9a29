"""axe-core looks at every view: nothing serious, wide and light as narrow and dark."""

from pathlib import Path
from typing import Any

import pytest

import tiermem
from tests.apps.http.conftest import SETTINGS
from tests.browser.conftest import Looks
from tests.browser.dialogue import correct
from tests.browser.test_look import asked, goes

LOOKS = (
    {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
)
SERIOUS = ("serious", "critical")


def serious(page: Any, view: str) -> list[tuple[str, str, str]]:
    """What axe finds serious in what is shown now: where, which rule, and at which element."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the extra `browser`")
    page.wait_for_selector(".waiting", state="detached")
    found = axe.Axe().run(page).response
    assert len(found["passes"]) > 10, view  # it did look
    return [
        (view, one["id"], node["html"][:120])
        for one in found["violations"]
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("given", LOOKS, ids=["wide-light", "narrow-dark"])
def test_axe_finds_nothing_serious_in_any_view(look: Looks, store: Path, given: dict[str, Any]) -> None:
    with tiermem.open(store, **SETTINGS) as memory:
        unit = correct(memory)
        memory.as_agent("planner").add("We count 7 tents.", speaker="planner", session="plans")
    page = look(store, write=True, **given)
    page.get_by_label("Seen by").wait_for()
    asked(page, "What does the cabin cost?")
    for folded in page.locator("details.course > summary").all():
        folded.click()
    found = serious(page, "ask")
    words = page.locator(".answer .passage").first.get_attribute("href")
    for place in (
        *("#/answers", "#/timeline", words, f"#/unit/{unit}"),
        *("#/search", "#/search?q=cabin", "#/about/Ann", "#/past", "#/store"),
    ):
        goes(page, place)
        found += serious(page, place)
    goes(page, words)
    page.locator(".turn").first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    page.get_by_text("would go, on").wait_for()
    assert [*found, *serious(page, "erase")] == []
