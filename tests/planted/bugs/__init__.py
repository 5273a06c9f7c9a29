"""All planted bugs, room by room."""

from tests.planted.bugs import (
    api,
    dialogue,
    evaluation,
    http,
    index,
    ledger,
    llm,
    mcp,
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
    *api.BUGS,
    *http.BUGS,
    *mcp.BUGS,
    *evaluation.BUGS,
)
