"""`tiermem answers`: the answers given, newest last."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.present.tables import table
from tiermem.apps.present.terminal import when

_READ = {"ANSWER": "what was recalled", "ESCALATE": "raw pages"}


def answers(*, place: options.SpaceOptions, looking: options.Looking) -> None:
    """List the answers given, with the ids to audit them by."""
    with place.open(read_only=True) as memory:
        given = memory.answers()
    looking.show({"answers": given}, lambda: _answers_table(given) if given else "no answers yet")


def _answers_table(given: Sequence[tiermem.AnswerInfo]) -> Table:
    return table(
        ("id", "asked", "question", "answer", "answered from"),
        [
            (
                Text(one.id, style="cyan"),
                when(one.at),
                one.question,
                one.text,
                _READ[one.route] + (", abstained" if one.abstained else ""),
            )
            for one in given
        ],
        whole=("id",),
    )
