"""All planted bugs, room by room."""

from tests.planted.bugs import (
    dialogue,
    evaluation,
    index,
    ledger,
    llm,
    memory,
    proof,
    reading,
    reasoning,
    writing,
)

BUGS = (
    *reading.BUGS,
    *reasoning.BUGS,
    *writing.BUGS,
    *ledger.BUGS,
    *proof.BUGS,
    *index.BUGS,
    *llm.BUGS,
    *dialogue.BUGS,
    *memory.BUGS,
    *evaluation.BUGS,
)
