"""The row on hostile text: no function over text takes quadratic time."""

from __future__ import annotations

from tests.growth.functions import functions, measure_growth
from tests.growth.measure import LARGEST_FACTOR
from tests.growth.texts import KINDS
from tests.torture.harness import Outcome, Row, Share

SIZE = 100_000
"""Characters. A function that is slow at this size is measured at twice the size as well."""

_FUNCTIONS = functions()
_CASES = [(name, kind) for name in _FUNCTIONS for kind in KINDS]


def hostile_text(share: Share) -> Outcome:
    """Time one function on one kind of text."""
    outcome = Outcome()
    for name, kind in (_CASES[case] for case in share.cases):
        factor = measure_growth(name, _FUNCTIONS[name], kind, SIZE)
        outcome.demand(factor is None, f"{name} grows too fast with {kind}")
        outcome.count += 1
    return outcome


ROWS = (
    Row(
        name="hostile-text",
        failure="a text that is slow to read",
        done="every public function over text, on every kind of hostile text, at 10,000 and at 100,000 "
        f"characters: ten times as much may take {LARGEST_FACTOR:.0f} times as long",
        unit="functions and kinds of text",
        count=len(_CASES),
        share=25,
        minutes=30,
        work=hostile_text,
        fixed=True,
    ),
)
