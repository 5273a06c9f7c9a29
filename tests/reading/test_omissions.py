"""What the summaries lost, counted over time."""

from pagestore import PageId
from tests.reading.world import START
from tiermem.ledger import Loss
from tiermem.reading.looking_back.omissions import over_time


def test_each_look_at_a_page_replaces_what_the_one_before_it_counted() -> None:
    first, second = PageId("p1:a"), PageId("p1:b")
    counted = ((first, 10, 6), (second, 4, 4), (first, 10, 3), (first, 10, 1))
    losses = [Loss(at=START, page_id=page, literals=literals, lost=lost) for page, literals, lost in counted]
    points = over_time(losses)
    assert [(point.literals, point.lost) for point in points] == [(10, 6), (14, 10), (14, 7), (14, 5)]
