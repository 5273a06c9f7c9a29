"""All planted bugs, room by room."""

from tests.planted.bugs import (
    dialogue,
    evaluation,
    index,
    ledger,
    llm,
    memory,
    reading,
    reasoning,
    text,
    writing,
)

BUGS = (
    *reading.BUGS,
    *reasoning.BUGS,
    *writing.BUGS,
    *ledger.BUGS,
    *text.BUGS,
    *index.BUGS,
    *llm.BUGS,
    *dialogue.BUGS,
    *memory.BUGS,
    *evaluation.BUGS,
)
