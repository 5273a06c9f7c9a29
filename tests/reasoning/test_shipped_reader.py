"""The reader that comes with the package: that it may, what it says of itself, and what it answers."""

import hashlib
import json
from pathlib import Path

import pytest

import tiermem
from eval.research.training.data.sources import SOURCES, check_may_ship
from eval.research.training.reader.export import LARGEST
from tiermem.embedding.weights import find_weights
from tiermem.errors import EmbedderUnavailable
from tiermem.reasoning.learned.factors import SHIPPED, SHIPPED_SHA256, read_head, texts_of
from tiermem.reasoning.learned.first_line import read_first_line
from tiermem.settings import Settings

ROOT = Path(__file__).parents[2]
TEXTS = texts_of(SHIPPED.read_bytes())


def test_it_may_be_given_away_and_says_whom_to_thank() -> None:
    trained_on = json.loads(TEXTS["trained_on"])
    check_may_ship(trained_on)
    assert SHIPPED.stat().st_size < LARGEST
    notice = (ROOT / "NOTICE").read_text()
    for name in trained_on:
        assert SOURCES[name].notice.split(",")[0] in notice


def test_what_it_says_of_itself_stands_in_its_head() -> None:
    assert len(read_head(SHIPPED)) < SHIPPED.stat().st_size / 50
    assert texts_of(read_head(SHIPPED)) == TEXTS


def test_its_hash_is_on_record() -> None:
    digest = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
    assert digest == SHIPPED_SHA256
    assert digest in (ROOT / "docs/results/probability.md").read_text()


def test_it_was_calibrated_for_the_default_risk() -> None:
    calibration = read_first_line(TEXTS)
    assert calibration is not None
    assert calibration.embedder == "all-MiniLM-L6-v2"
    assert calibration.threshold(Settings().risk) < 1
    risks = [float(risk) for risk in calibration.thresholds]
    kept = [calibration.threshold(risk) for risk in sorted(risks)]
    assert kept == sorted(kept, reverse=True)


def test_it_orders_lines_where_a_memory_is_opened_by_default() -> None:
    try:
        find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    with tiermem.open(":memory:", index="memory") as memory:
        assert memory.engine == "local"
        memory.add("My dog Biscuit is allergic to chicken.", speaker="Ann", said_at="2023-05-08T13:56")
        memory.add(
            "We moved the tasting to the old mill by the river.", speaker="Bo", said_at="2023-05-09T09:00"
        )
        for question, words in (
            ("What is Biscuit allergic to?", "chicken"),
            ("Where is the tasting?", "mill by the river"),
        ):
            answer = memory.ask(question)
            assert (answer.abstained, answer.support) == (False, "said")
            assert words in answer.said[0].text
            assert answer.said[0].marks
            assert answer.probability is not None
            assert memory.audit(answer.id).intact
        assert memory.ask("Which car does Ann drive?").abstained


def test_it_points_at_the_row_of_a_list_that_is_asked_for() -> None:
    try:
        find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    for message, question, row in (
        ("Sizes for the order\nMia: 38\nTom: 44\nUte: 36", "What is Tom's size?", "… Tom: 44 …"),
        ("Password for the alarm:\nheron-22\nTell no one.", "What is the alarm password?", "… heron-22 …"),
        ("Meds\nmorning - iron\nevening - atorvastatin", "What do I take in the evening?", "… evening - "),
        ("Phones\nAlice 555-0134\nBob 555-0188", "What is Bob's phone number?", "… Bob 555-0188"),
        ("I moved.\n\nThe flat is in Leeds.\n\nCome and visit!", "Where is the flat?", "… The flat is in L"),
        ("server: db-7\nport: 5433\nuser: reports", "Which port does the database use?", "… port: 5433 …"),
    ):
        with tiermem.open(":memory:", index="memory") as memory:
            memory.add(message, speaker="Ann")
            memory.add("See you at the gym then.", speaker="Bob")
            line = memory.ask(question).said[0]
            assert line.text.startswith(row), line.text
            assert "\n" not in "".join(line.text[start:end] for start, end in line.marks)
