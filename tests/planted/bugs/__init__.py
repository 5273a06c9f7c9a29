"""All planted bugs, room by room."""

from tests.planted.bugs import ledger, reading, reasoning, text, writing

BUGS = (*reading.BUGS, *reasoning.BUGS, *writing.BUGS, *ledger.BUGS, *text.BUGS)
