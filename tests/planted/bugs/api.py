"""Bugs of `tiermem/api` and `tiermem/runtime`: the API, and the work behind it."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="of a long query the beginning is searched for",
        file="tiermem/api/arguments.py",
        function="query",
        before="text_in(value, name).strip()[-LONGEST_QUESTION:]",
        after="text_in(value, name).strip()[:LONGEST_QUESTION]",
        found_by=("tests/api/test_long_queries.py",),
    ),
    Bug(
        name="background forgets its second run",
        file="tiermem/runtime/jobs.py",
        function="Jobs.start",
        before="self._again[name] = job",
        after="pass",
        found_by=("tests/runtime/test_jobs.py", "tests/api"),
    ),
    Bug(
        name="a failure behind the API is not kept",
        file="tiermem/runtime/jobs.py",
        function="Jobs.note",
        before="self._problems.append(kept)",
        after="",
        found_by=("tests/runtime/test_jobs.py", "tests/api"),
    ),
    Bug(
        name="closing does not wait for what runs",
        file="tiermem/runtime/jobs.py",
        function="Jobs.drain",
        before="""
            while running := [task for name, task in self._running.items() if name != but]:
                await asyncio.wait(running)
        """,
        after="return",
        found_by=("tests/runtime/test_jobs.py", "tests/api"),
    ),
    Bug(
        name="what began before does not keep one who must be alone out",
        file="tiermem/runtime/lock.py",
        function="ReadWriteLock.exclusive",
        before="""
            while self._inside:
                await self._changed.wait()
        """,
        after="pass",
        found_by=("tests/runtime/test_lock.py", "tests/api"),
    ),
    Bug(
        name="whoever comes later goes before one who waits to be alone",
        file="tiermem/runtime/lock.py",
        function="ReadWriteLock.shared",
        before="""
            while self._closed:
                await self._changed.wait()
        """,
        after="",
        found_by=("tests/runtime/test_lock.py", "tests/api"),
    ),
    Bug(
        name="what was erased comes back when its file was edited",
        file="tiermem/writing/turn_ids.py",
        function="_match_files",
        before="found | dict.fromkeys(stays_away)",
        after="found",
        found_by=("tests/api/test_files_again.py", "tests/api"),
    ),
    Bug(
        name="words put into a file once more are known by the place of those before",
        file="tiermem/writing/turn_ids.py",
        function="_new",
        before='how == "same" and turn.turn_id not in claimed',
        after='how == "same"',
        found_by=("tests/api/test_files_again.py", "tests/api"),
    ),
    Bug(
        name="the end of a file given alone is laid beside its beginning",
        file="tiermem/writing/turn_ids.py",
        function="_from_files",
        before="known is not None and known[1] >= first.get(known[0], 0)",
        after="known is not None",
        found_by=("tests/api/test_files_again.py", "tests/api"),
    ),
    Bug(
        name="a truth value passes for a number",
        file="tiermem/api/arguments.py",
        function="whole",
        before="None if isinstance(value, bool) else index(value)",
        after="index(value)",
        found_by=("tests/api/test_arguments.py", "tests/api"),
    ),
    Bug(
        name="a day looked back to is its beginning",
        file="tiermem/dialogue/times.py",
        function="until",
        before="time.max",
        after="time()",
        found_by=("tests/api/test_arguments.py", "tests/api"),
    ),
    Bug(
        name="settings take names nobody knows",
        file="tiermem/settings.py",
        function="Settings",
        before='"forbid"',
        after='"ignore"',
        found_by=("tests/api/test_settings.py", "tests/api"),
    ),
    Bug(
        name="what local rules do is counted against the day",
        file="tiermem/runtime/opening.py",
        function="_daily_meter",
        before="Budget() if engine.free else limits",
        after="limits",
        found_by=("tests/api/test_daily_limits.py", "tests/api"),
    ),
    Bug(
        name="an agent is shown who may see it",
        file="tiermem/api/memory.py",
        function="AsyncMemory.grants",
        before="self._agent in (None, one.agent)",
        after="self._agent in (None, one.agent, one.to_see)",
        found_by=("tests/api/test_agents.py::test_an_agent_is_not_shown_who_may_see_it",),
    ),
    Bug(
        name="a title stands before the session that has this id",
        file="tiermem/api/caller.py",
        function="SpaceCaller.find_session",
        before="name in await ledger.sessions()",
        after="False",
        found_by=("tests/api/test_titles.py",),
    ),
)
