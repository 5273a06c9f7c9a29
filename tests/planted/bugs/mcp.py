"""Bugs of `tiermem/apps/mcp`: the server for agents."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="the words of a dry run are those of all turns of the pages",
        file="tiermem/writing/erase.py",
        function="_sentences",
        before="(there[turn.seq] for turn in announced.turns if turn.seq in there)",
        after="there.values()",
        found_by=("tests/apps/test_mcp.py",),
    ),
    Bug(
        name="an address names a turn by its number alone",
        file="tiermem/writing/erase.py",
        function="Selection.is_turn",
        before="self.turn == line.address",
        after="self.seq == line.seq",
        found_by=("tests/api/test_addresses.py",),
    ),
    Bug(
        name="a message that cannot be read gets no answer",
        file="tiermem/apps/mcp/stdio.py",
        function="_MessageLines.__aiter__",
        before="await self._refusals.send(refusal)",
        after="pass",
        found_by=("tests/apps/test_mcp_wire.py",),
        slow_reason="only a server over standard input, in a process of its own, reads such messages",
    ),
    Bug(
        name="a model's words are stored as the user's",
        file="tiermem/adapters/tools.py",
        function="MemoryTools.__init__",
        before='self._role = None if as_user else "assistant"',
        after="self._role = None",
        found_by=("tests/adapters/test_tools.py",),
    ),
    Bug(
        name="stamps allow the name of a speaker",
        file="tiermem/apps/mcp/server.py",
        function="_Tools._check_attribution",
        before="speaker is not None and self._role is not None",
        after="speaker is not None and self._role is not None and not self._stamps",
        found_by=("tests/apps/test_mcp.py",),
    ),
    Bug(
        name="a search finds what was said in other sessions",
        file="tiermem/apps/mcp/server.py",
        function="_Tools.search",
        before="""
            self._memory.search(
                query,
                kind=kind,
                limit=limit,
                session=session,
                speaker=speaker,
                said_after=said_after,
                said_before=said_before,
            )
        """,
        after="""
            self._memory.search(
                query,
                kind=kind,
                limit=limit,
                speaker=speaker,
                said_after=said_after,
                said_before=said_before,
            )
        """,
        found_by=("tests/apps/test_mcp.py::test_a_search_finds_what_was_said_in_its_session",),
    ),
)
