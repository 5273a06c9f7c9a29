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
from tiermem.reasoning.learned.calibration import DEFAULT_RISK, read_calibration
from tiermem.reasoning.learned.factors import SHIPPED, SHIPPED_SHA256, read_head, texts_of

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


def test_it_was_calibrated_and_gives_answers_at_the_risk_nobody_names() -> None:
    calibration = read_calibration(TEXTS)
    assert calibration is not None
    assert calibration.embedder == "all-MiniLM-L6-v2"
    assert calibration.threshold(DEFAULT_RISK) < 1
    risks = [float(risk) for risk in calibration.thresholds]
    kept = [calibration.threshold(risk) for risk in sorted(risks)]
    assert kept == sorted(kept, reverse=True)


def test_it_answers_where_a_memory_is_opened_without_a_word_about_it() -> None:
    try:
        find_weights()
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    with tiermem.open(":memory:", index="memory") as memory:
        assert memory.engine == "local with a reader"
        memory.add("My dog Biscuit is allergic to chicken.", speaker="Ann", said_at="2023-05-08T13:56")
        memory.add(
            "We moved the tasting to the old mill by the river.", speaker="Bo", said_at="2023-05-09T09:00"
        )
        answer = memory.ask("What is Biscuit allergic to?")
        assert answer.text == "chicken"
        assert answer.probability is not None
        assert 0.3 < answer.probability < 1
        assert memory.ask("Where is the tasting?").text.startswith("the old mill")
        assert memory.ask("Who repaired the violin in Prague?").abstained
