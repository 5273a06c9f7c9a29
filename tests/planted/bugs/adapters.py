"""Bugs of `tiermem/adapters` that tests find without a framework."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="a score of zero is not in the metadata",
        file="tiermem/adapters/finding.py",
        function="known_of",
        before='name != "text" and value not in (None, "")',
        after='name != "text" and value',
        found_by=("tests/adapters/test_finding.py",),
    ),
    Bug(
        name="a message in several parts comes back several times",
        file="tiermem/adapters/items.py",
        function="Items._backwards",
        before="turn is not None and line.part == 1 and turn.turn_id and self.key in turn.metadata",
        after="turn is not None and turn.turn_id and self.key in turn.metadata",
        found_by=("tests/adapters/test_items.py",),
    ),
    Bug(
        name="clearing a session without messages erases it",
        file="tiermem/adapters/items.py",
        function="Items.clear",
        before="self.newest(1)",
        after="True",
        found_by=("tests/adapters/test_items.py",),
    ),
    Bug(
        name="a tool answers from what its filters leave out",
        file="tiermem/adapters/tools.py",
        function="MemoryTools.ask",
        before="self._memory.ask(question, **self._only)",
        after="self._memory.ask(question)",
        found_by=("tests/adapters/test_tools.py",),
    ),
    Bug(
        name="the result of a function counts as the assistant's words",
        file="tiermem/adapters/items.py",
        function="",
        before='{"human": "user", "ai": "assistant", "developer": "system", "function": "tool"}',
        after='{"human": "user", "ai": "assistant", "developer": "system", "function": "assistant"}',
        found_by=("tests/adapters/test_items.py::test_a_role_of_a_framework_is_stored_as_the_role_it_means",),
    ),
)
