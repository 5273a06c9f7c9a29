"""All planted bugs, room by room."""

from tests.planted.bugs import (
    adapters,
    api,
    commands,
    dialogue,
    evaluation,
    http,
    index,
    ledger,
    llm,
    mcp,
    pagestore,
    proof,
    reading,
    reasoning,
    salience,
    writing,
)

BUGS = (
    *reading.BUGS,
    *reasoning.BUGS,
    *writing.BUGS,
    *salience.BUGS,
    *ledger.BUGS,
    *pagestore.BUGS,
    *proof.BUGS,
    *index.BUGS,
    *llm.BUGS,
    *dialogue.BUGS,
    *api.BUGS,
    *http.BUGS,
    *commands.BUGS,
    *adapters.BUGS,
    *mcp.BUGS,
    *evaluation.BUGS,
)
