"""A person looks at a memory: asks, follows the answer to the words, goes back in time, takes out."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import tiermem
from tests.apps.http.conftest import SETTINGS
from tests.browser.conftest import Looks
from tests.browser.dialogue import HOSTILE, correct


def goes(page: Any, place: str) -> None:
    """Lead to a place of the page, and wait until it is shown."""
    shown = page.evaluate("place => { location.hash = place; return location.hash; }", place)
    page.wait_for_selector(f"#main[data-place={json.dumps(shown)}]")


def asked(page: Any, question: str) -> None:
    page.get_by_label("Question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_selector(".answer")


def test_an_answer_leads_to_the_words_it_rests_on(look: Looks, store: Path) -> None:
    page = look(store)
    asked(page, "What is Biscuit allergic to?")
    assert page.locator(".answer .text").inner_text() == "Nearest in memory:"
    line = page.locator(".answer .passage").first
    cited = line.locator(".words").first.inner_text()
    assert "is allergic to chicken" in cited
    line.click()
    page.wait_for_selector("mark.cited")
    assert "".join(page.locator("mark.cited").all_inner_texts()) == cited
    assert page.locator("main h1").inner_text().startswith("Page 1")


def test_the_steps_appear_as_they_happen_and_stay_below_the_answer(look: Looks, store: Path) -> None:
    page = look(store)
    seen = page.evaluate_handle(
        """() => {
          const seen = [];
          const count = () => {
            const steps = document.querySelectorAll(".steps > li").length;
            if (steps && !document.querySelector(".answer")) seen.push(steps);
          };
          const result = document.querySelector(".result");
          new MutationObserver(count).observe(result, { childList: true, subtree: true });
          return seen;
        }"""
    )
    page.get_by_text("Confine it").click()
    assert page.get_by_label("Look").count() == 0  # where to look is for a language model
    asked(page, "What is Biscuit allergic to?")
    live = seen.json_value()
    assert live == sorted(live)
    assert live[0] < live[-1]  # one after the other, and before the answer
    page.get_by_text(re.compile(r"^\d+ steps in ")).click()
    steps = page.locator(".steps > li b").all_inner_texts()
    assert steps == ["Recalled", "Decided"]


def test_an_agent_s_own_are_looked_at_as_that_agent(look: Looks, store: Path) -> None:
    with tiermem.open(store, **SETTINGS) as memory:
        for agent in ("planner", "critic"):
            memory.as_agent(agent).add(f"The {agent} counts 7 tents.", speaker=agent, session="plans")
        memory.flush()
    page = look(store)
    goes(page, "#/timeline")
    page.get_by_label("Seen by").select_option("planner")
    page.wait_for_url("**agent=planner**")
    page.get_by_text("The planner counts 7 tents.").wait_for()
    assert page.get_by_text("The critic counts").count() == 0
    assert page.get_by_label("Seen by").input_value() == "planner"
    page.get_by_label("Seen by").select_option("the owner")
    page.get_by_text("The critic counts 7 tents.").wait_for()


def test_what_memory_does_not_hold_shows_what_comes_nearest(look: Looks, store: Path) -> None:
    page = look(store)
    asked(page, "Who repaired the violin of the mayor?")
    assert page.locator(".answer .tag.off").inner_text() == "No certain answer"
    page.get_by_text("How it came about").click()
    assert page.get_by_text("read no further, by").or_(page.get_by_text("read further, by")).count() == 1
    assert page.get_by_text("decided ANSWER").count() == 0
    assert page.locator(".passage").count() > 0


def test_the_first_view_has_counts_sessions_and_questions_to_try(look: Looks, store: Path) -> None:
    page = look(store)
    page.get_by_role("heading", name="Questions to try").wait_for()
    assert page.locator(".figures dt").all_inner_texts() == ["Turns", "Pages", "Units", "Answers"]
    assert page.get_by_role("heading", name="Newest sessions").is_visible()
    tried = page.locator("main button.plain").first
    question = tried.inner_text()
    tried.click()
    page.wait_for_selector(".answer")
    assert page.get_by_label("Question").input_value() == question
    assert page.get_by_role("heading", name="Questions to try").count() == 0


def test_words_are_never_html(look: Looks, store: Path) -> None:
    page = look(store)
    for place in ("#/timeline", "#/search?q=bold&kind=turns", "#/about/%3Ci%3EMallory%3C%2Fi%3E"):
        goes(page, place)
        page.get_by_text("onerror=").first.wait_for()
        assert page.locator("main img, main script, main i, main u").count() == 0
    page.locator(".passage").first.click()
    page.wait_for_selector(".said")
    assert HOSTILE in page.locator(".said").all_inner_texts()
    assert "owned" not in page.title()


def test_a_unit_lights_its_words_and_words_their_unit(look: Looks, store: Path) -> None:
    page = look(store)
    goes(page, "#/timeline?session=trip")
    page.locator(".page-row").first.click()
    card = page.locator(".unit-card", has_text="240 euros")
    card.get_by_role("link").focus()
    assert page.locator("mark.on").all_inner_texts() == ["The cabin costs 240 euros a night."]
    page.locator("mark.unit", has_text="Bergen").hover()
    assert "Bergen" in page.locator(".unit-card.on").inner_text()
    assert page.get_by_role("heading", name="What no unit keeps").count() <= 1


def test_a_correction_stands_in_the_history_and_the_slider_goes_back_before_it(
    look: Looks, store: Path
) -> None:
    with tiermem.open(store, **SETTINGS) as memory:
        unit = correct(memory)
    page = look(store)
    goes(page, f"#/unit/{unit}")
    page.wait_for_selector(".history > li:nth-child(2)")
    states = page.locator(".history > li > .meta .tag:first-child").all_inner_texts()
    assert states == ["superseded", "holds"]
    assert page.locator(".history mark").all_inner_texts()[0] == "The cabin costs 240 euros a night."
    goes(page, "#/past")
    page.get_by_text("hold now").wait_for()
    assert page.locator(".long").get_by_text("260 euros").count() == 1
    slider = page.get_by_label("Moment")
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    page.wait_for_selector('.result[aria-busy="false"]')  # of the last moment, and no earlier one
    page.get_by_text("Since then").wait_for()
    assert page.locator(".long").get_by_text("260 euros").count() == 0
    assert "holds no more" in page.locator(".long .row", has_text="240 euros").inner_text()


def test_erasing_shows_what_would_go_and_then_it_is_gone(look: Looks, store: Path) -> None:
    page = look(store, write=True)
    asked(page, "What does the cabin cost?")
    goes(page, "#/timeline?session=trip")
    page.locator(".page-row").first.click()
    page.wait_for_selector(".turn")
    page.locator(".turn", has_text="240 euros").get_by_role("button").focus()
    page.keyboard.press("Enter")
    preview = page.locator(".preview")
    preview.get_by_text("1 turn would go, on 1 page").wait_for()
    preview.get_by_text("1 unit", exact=True).click()
    preview.get_by_text("Bo: The cabin costs 240 euros a night.").wait_for()
    assert "1 answer, " in preview.inner_text()
    page.get_by_label("Reason").fill("they asked for it")
    page.get_by_role("button", name="Erase for ever").click()
    assert page.get_by_role("dialog").is_visible()  # not without agreeing
    page.get_by_label("This cannot be undone.").check()
    page.get_by_role("button", name="Erase for ever").click()
    page.get_by_text("1 turn erased on 1 page").wait_for()
    assert "1 unit went, 0 units narrowed" in page.get_by_role("dialog").inner_text()
    assert "1 answer and " in page.get_by_role("dialog").inner_text()
    page.get_by_role("button", name="Close").click()
    page.get_by_text("This turn was erased.").wait_for()
    assert page.get_by_text("240 euros").count() == 0


def test_a_session_is_erased_whole(look: Looks, store: Path) -> None:
    page = look(store, write=True)
    goes(page, "#/timeline")
    page.get_by_role("button", name="Erase session trip").focus()
    page.keyboard.press("Enter")
    page.locator(".preview").get_by_text("3 turns would go, on 1 page").wait_for()
    page.get_by_label("Reason").fill("they asked for it")
    page.get_by_label("This cannot be undone.").check()
    page.get_by_role("button", name="Erase for ever").click()
    page.get_by_text("3 turns erased").wait_for()


def test_a_unit_is_withdrawn_with_its_words_and_reinstated(look: Looks, store: Path) -> None:
    page = look(store, write=True)
    goes(page, "#/search?q=cabin%20costs")
    page.locator("li", has_text="240 euros").get_by_role("link", name="history").click()
    page.get_by_role("button", name="Withdraw …").click()
    page.get_by_label("Reason").fill("it was a guess")
    page.get_by_role("button", name="Withdraw", exact=True).click()
    page.get_by_role("button", name="Close").click()
    page.locator(".note", has_text="it was a guess").wait_for()
    page.get_by_role("button", name="Reinstate …").click()
    page.get_by_label("Reason").fill("it was right")
    page.get_by_role("button", name="Reinstate", exact=True).click()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Withdraw …").wait_for()


def test_read_only_offers_nothing_that_writes(look: Looks, store: Path) -> None:
    page = look(store)
    assert "read-only" in page.locator("#place").inner_text()
    goes(page, "#/timeline?session=trip")
    page.locator(".page-row").first.click()
    page.wait_for_selector(".turn")
    assert page.locator("main button").count() == 0


def test_the_key_is_asked_for_kept_in_the_tab_and_in_no_address(look: Looks, store: Path) -> None:
    page = look(store)
    token = page.evaluate("sessionStorage.getItem('tiermem.key')")
    assert token.startswith("tm_")
    assert token not in page.url
    page.get_by_role("button", name="Forget the key").click()
    page.get_by_role("heading", name="This memory needs a key").wait_for()
    page.get_by_label("Key").fill(token)
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("heading", name="Ask memory").wait_for()


@pytest.mark.parametrize("is_accepted", [True, False])
@pytest.mark.parametrize("place", ["", "?space=default"])
def test_a_link_with_another_key_asks_before_it_replaces_the_stored_one(
    look: Looks, store: Path, place: str, is_accepted: bool
) -> None:
    page = look(store)
    token = page.evaluate("sessionStorage.getItem('tiermem.key')")
    base = page.url.partition("#")[0].rstrip("?")
    asked = []

    def reply(dialog: Any) -> None:
        asked.append(dialog.message)
        if is_accepted:
            dialog.accept()
        else:
            dialog.dismiss()

    page.on("dialog", reply)
    page.goto(f"{base}{place}#key={token}")
    page.get_by_role("heading", name="Ask memory").wait_for()
    assert asked == []
    page.goto(f"{base}{place}#key=tm_another")
    heading = "This memory needs a key" if is_accepted else "Ask memory"
    page.get_by_role("heading", name=heading).wait_for()
    assert len(asked) == 1
    assert "another key" in asked[0]
    assert "tm_another" not in page.url
    stored = page.evaluate("sessionStorage.getItem('tiermem.key')")
    assert stored == ("tm_another" if is_accepted else token)


def test_the_keyboard_reaches_search_from_everywhere_but_where_something_is_typed(
    look: Looks, store: Path
) -> None:
    page = look(store)
    page.get_by_label("Question").fill("a")
    page.keyboard.press("/")
    assert page.get_by_label("Question").input_value() == "a/"
    goes(page, "#/store")
    page.get_by_role("heading", name="Verify").wait_for()
    page.keyboard.press("/")
    page.wait_for_selector("#query:focus")
    page.keyboard.type("Bergen")
    page.keyboard.press("Enter")
    page.get_by_text("booked the cabin in Bergen").first.wait_for()


def test_a_phone_shows_every_view_without_scrolling_sideways(look: Looks, store: Path) -> None:
    page = look(store, write=True, viewport={"width": 360, "height": 740}, color_scheme="dark")
    asked(page, "What is Biscuit allergic to?")
    words = page.locator(".answer .passage").first.get_attribute("href")
    for place in (
        "#/answers",
        "#/timeline",
        words,
        "#/search",
        "#/search?q=cabin",
        "#/about/Ann",
        "#/past",
        "#/store",
    ):
        goes(page, place)
        page.wait_for_selector("main h1")
        page.wait_for_selector(".waiting", state="detached")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place


def test_hundreds_of_pages_are_a_few_rows(look: Looks, tmp_path: Path) -> None:
    with tiermem.open(tmp_path / "many", **(SETTINGS | {"distil": "deferred", "page_tokens": 64})) as memory:
        for number in range(40):
            words = (f"Number {number}, part {part}: " + "word " * 50 for part in range(10))
            memory.add([{"role": "user", "content": text} for text in words], session=f"s{number:03}")
        pages = len(memory.pages())
    assert pages >= 300
    page = look(tmp_path / "many")
    goes(page, "#/timeline")
    page.get_by_text("40 sessions").wait_for()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.get_by_text("Number 0, part 9").wait_for()
    assert page.locator(".row").count() < 60


QUESTIONS = (
    "What is Biscuit allergic to?",
    "When did we book the cabin?",
    "Who takes the train from Oslo?",
    "Wie viel wiegt Biscuit?",
    "Does <b>anybody</b> know the mayor's violin?",
    "犬の名前は?",
)


def test_answers_lists_every_question_with_its_answer(look: Looks, store: Path) -> None:
    with tiermem.open(store, **SETTINGS) as memory:
        given = [memory.ask(question) for question in QUESTIONS]
    page = look(store)
    goes(page, "#/answers")
    rows = page.locator("main a.two")
    shown = [row.locator(".cut").all_text_contents()[:2] for row in rows.all()]
    assert [question for question, _ in shown] == [*reversed(QUESTIONS)]
    for (_, line), one in zip(shown, reversed(given), strict=True):
        assert line in [part.strip() for part in one.text.splitlines()]
        assert not line.endswith(":")  # no heading


@pytest.mark.parametrize(
    "code", ["negation", "plan", "report", "competing", "assistant", "a code of tomorrow"]
)
def test_a_caution_is_a_note_and_no_quotation(look: Looks, store: Path, code: str) -> None:
    with tiermem.open(store, **SETTINGS) as memory:
        answer = memory.ask("What is Biscuit allergic to?")

    def with_caution(route: Any) -> None:
        answered = route.fetch()
        body = answered.json()
        body["answer"]["cautions"] = [{"code": code, "spans": []}]
        route.fulfill(response=answered, json=body)

    page = look(store)
    page.route("**/v1/audit*", with_caution)
    goes(page, f"#/answer/{answer.id}")
    (note,) = (one for one in page.locator(".answer .note").all() if "Caution" in one.inner_text())
    assert re.match(r"Caution: [^“«\"]+\.$", note.inner_text())
    assert note.locator("xpath=ancestor-or-self::*[self::blockquote or self::q or self::mark]").count() == 0
    assert note.locator("xpath=ancestor::*[contains(@class, 'passage')]").count() == 0


@pytest.mark.parametrize(
    "statement",
    [
        "The spare key is under the blue pot.",
        "Clara's boat is called Heron+.",
        "Мой кот спит на шкафу.",
        "Die Miete beträgt 1.150 Euro.",
        "来週の火曜日に歯医者に行きます。",
        "Use <b>bold</b> & no tabs.",
    ],
)
def test_the_same_words_as_turn_and_as_unit_are_one_hit(look: Looks, store: Path, statement: str) -> None:
    with tiermem.open(store, **SETTINGS) as memory:
        memory.remember(statement, speaker="Ann")
    page = look(store)
    goes(page, f"#/search?q={quote(statement)}")
    page.locator("main", has_text=statement).wait_for()
    assert page.locator("main").inner_text().count(statement) == 1


def test_before_anything_is_looked_for_search_displays_the_profile(look: Looks, store: Path) -> None:
    with tiermem.open(store, **SETTINGS) as memory:
        memory.remember("The spare key is under the blue pot.", speaker="Ann")
    page = look(store)
    goes(page, "#/search")
    page.get_by_role("heading", name="Known without a question").wait_for()
    known = page.locator("main .passage .words").all_inner_texts()
    assert known[0].endswith("The spare key is under the blue pot.")
    assert any(HOSTILE in words for words in known)
    goes(page, "#/search?q=cabin")
    page.get_by_text(re.compile(r"^\d+ results?, best first\.")).wait_for()
    assert page.get_by_role("heading", name="Known without a question").count() == 0


@pytest.mark.parametrize(
    ("speaker", "words"),
    [
        ("Zora", "We met Ludwig at the harbour, and Fatima sang."),
        ("Bo", "The dentist moved the appointment to the afternoon."),
        ("Øyvind", "Fjellturen med Ingrid var fantastisk i Lofoten."),
        ("Lê", "Hôm qua, Nguyễn đã mua một chiếc xe đạp tuyệtvời."),
        ("Ann", "I painted <u>lanterns</u> & sold seventeen of them."),
    ],
)
def test_the_first_view_suggests_questions_about_what_was_said_last(
    look: Looks, store: Path, speaker: str, words: str
) -> None:
    with tiermem.open(store, **SETTINGS) as memory:
        memory.add(words, speaker=speaker, session="last")
    page = look(store)
    page.get_by_role("heading", name="Questions to try").wait_for()
    tried = page.locator("main button.plain").first
    assert re.fullmatch(rf"What did {speaker} say about ([\w-]+)\?", tried.inner_text())
    assert tried.inner_text().rpartition(" ")[2].rstrip("?") in words
    tried.click()
    page.wait_for_selector(".answer")
    assert words in page.locator(".answer").inner_text()
