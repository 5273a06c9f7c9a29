"""The row on hostile text: no function over text may take much longer than its text is longer."""

from __future__ import annotations

from tests.growth.functions import functions, grown_by
from tests.growth.texts import KINDS
from tests.torture.harness import Outcome, Row, Share

SIZE = 100_000
"""Characters, against a tenth of them."""

_FUNCTIONS = functions()
_CASES = [(name, kind) for name in _FUNCTIONS for kind in KINDS]


def hostile_text(share: Share) -> Outcome:
    """A function on a text of one kind, timed at two sizes."""
    outcome = Outcome()
    for name, kind in (_CASES[case] for case in share.cases):
        grown = grown_by(name, _FUNCTIONS[name], kind, SIZE)
        outcome.demand(grown is None, f"{name} grows too fast with {kind}")
        outcome.count += 1
    return outcome


ROWS = (
    Row(
        name="hostile-text",
        failure="a text that is slow to read",
        done="every public function over text, on every kind of hostile text, at 10,000 and at 100,000 "
        "characters: ten times as much may take 15 times as long",
        unit="functions and kinds of text",
        count=len(_CASES),
        share=25,
        minutes=30,
        work=hostile_text,
        fixed=True,
    ),
)
