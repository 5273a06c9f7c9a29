"""How often a head is right where it is sure of a grade."""

from eval.research.training.reader.grades import Claimed, precision

CLAIMS = [
    Claimed(half="A", grade="stated", said=(0.9, 0.1, 0.0)),
    Claimed(half="A", grade="unclear", said=(0.7, 0.3, 0.0)),
    Claimed(half="A", grade="contradicted", said=(0.2, 0.2, 0.6)),
]


def test_a_grade_is_counted_where_the_head_is_sure_enough() -> None:
    assert precision(CLAIMS, "stated", 0.5) == (1, 2)
    assert precision(CLAIMS, "stated", 0.8) == (1, 1)
    assert precision(CLAIMS, "contradicted", 0.5) == (1, 1)
    assert precision(CLAIMS, "unclear", 0.5) == (0, 0)
