"""Bugs of `tiermem/apps/http`: the server over HTTP."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="headers have no deadline",
        file="tiermem/apps/http/connections.py",
        function="LimitedProtocol._current_phase",
        before='return "headers", self.cycle',
        after="return None",
        found_by=("tests/apps/http/test_connections.py",),
    ),
    Bug(
        name="a body has no deadline",
        file="tiermem/apps/http/connections.py",
        function="LimitedProtocol._current_phase",
        before='return "body", self.cycle',
        after="return None",
        found_by=("tests/apps/http/test_connections.py",),
    ),
    Bug(
        name="a client that reads nothing is never disconnected",
        file="tiermem/apps/http/connections.py",
        function="LimitedProtocol._check_writing",
        before="self.transport.abort()",
        after="self._start_write_deadline()",
        found_by=("tests/apps/http/test_connections.py",),
    ),
    Bug(
        name="connections of a client have no limit",
        file="tiermem/apps/http/connections.py",
        function="ConnectionTable.add",
        before="client is not None",
        after="client is None",
        found_by=("tests/apps/http/test_connections.py",),
    ),
    Bug(
        name="the application waits for a body without end",
        file="tiermem/apps/http/app.py",
        function="_Handlers._body",
        before="asyncio.timeout(self._service.limits.seconds)",
        after="asyncio.timeout(None)",
        found_by=("tests/apps/http/test_problems.py",),
    ),
    Bug(
        name="a file of keys that becomes readable to others is used on",
        file="tiermem/apps/http/keys.py",
        function="Keys._look",
        before="(found.st_mtime_ns, found.st_ino, found.st_size, found.st_mode)",
        after="(found.st_mtime_ns, found.st_ino, found.st_size)",
        found_by=("tests/apps/http/test_access.py",),
    ),
    Bug(
        name="an error names the path of the store",
        file="tiermem/apps/http/service.py",
        function="Service.problem",
        before="replace(problem, detail=self._here(problem.detail))",
        after="problem",
        found_by=("tests/apps/http/test_problems.py",),
    ),
    Bug(
        name="an error about a checkpoint names the path of the store",
        file="tiermem/apps/http/service.py",
        function="Service.problem",
        before="self._here(str(error))",
        after="str(error)",
        found_by=("tests/apps/http/test_problems.py",),
    ),
    Bug(
        name="another site can show the page in a frame",
        file="tiermem/apps/http/assets.py",
        function="",
        before=(
            "\"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            "require-trusted-types-for 'script'; trusted-types 'none'\""
        ),
        after=(
            "\"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
            "base-uri 'none'; form-action 'none'; "
            "require-trusted-types-for 'script'; trusted-types 'none'\""
        ),
        found_by=("tests/apps/http/test_page.py",),
    ),
    Bug(
        name="a stream goes on after its client has disconnected",
        file="tiermem/apps/http/app.py",
        function="_Handlers._events",
        before="if not doing.done(): doing.cancel()",
        after="pass",
        found_by=("tests/apps/http/test_streams.py",),
    ),
    Bug(
        name="a key ends after hours in place of days",
        file="tiermem/apps/http/keys.py",
        function="Keys.make",
        before="timedelta(days=days)",
        after="timedelta(hours=days)",
        found_by=("tests/apps/http/test_access.py",),
    ),
    Bug(
        name="a space in use is closed as idle",
        file="tiermem/apps/http/spaces.py",
        function="Spaces.close_idle",
        before="not place.users and not place.closing and place.left <= before",
        after="not place.closing and place.left <= before",
        found_by=("tests/apps/http/test_spaces.py",),
    ),
    Bug(
        name="requests of all operations are counted for each",
        file="tiermem/apps/http/metrics.py",
        function="Metrics._lines",
        before="sum(number for (name, _), number in self._requests.items() if name == operation)",
        after="sum(self._requests.values())",
        found_by=("tests/apps/http/test_metrics.py",),
    ),
    Bug(
        name="a browser that has another version of the page is not sent the new one",
        file="tiermem/apps/http/app.py",
        function="_page",
        before='request.headers.get("if-none-match") == asset.tag',
        after='request.headers.get("if-none-match") is not None',
        found_by=("tests/apps/http/test_page.py",),
    ),
    Bug(
        name="a cancelled request is under way for ever",
        file="tiermem/apps/http/app.py",
        function="_Handlers.count_request.answer",
        before="""
            try:
                response = await answers(request)
            except Exception as error:
                response = _problem_response(self._service.problem(error, operation=operation))
            finally:
                metrics.under_way -= 1
        """,
        after="""
            try:
                response = await answers(request)
            except Exception as error:
                response = _problem_response(self._service.problem(error, operation=operation))
            metrics.under_way -= 1
        """,
        found_by=("tests/apps/http/test_metrics.py",),
    ),
    Bug(
        name="the space that was opened first is closed first",
        file="tiermem/apps/http/spaces.py",
        function="Spaces._take_place",
        before="self._places.move_to_end(name)",
        after="",
        found_by=("tests/apps/http/test_spaces.py",),
    ),
    Bug(
        name="an error names the folder behind a link to the store",
        file="tiermem/apps/http/service.py",
        function="Service._here",
        before="str(directory.resolve())",
        after="str(directory)",
        found_by=("tests/apps/http/test_problems.py",),
    ),
    Bug(
        name="a key that may read creates a space by opening it",
        file="tiermem/apps/http/service.py",
        function="Service.open",
        before='create and caller.has("write") and not self._read_only',
        after="create and not self._read_only",
        found_by=(
            "tests/apps/http/test_access.py::test_opening_a_space_creates_it_for_a_key_that_may_write",
        ),
    ),
    Bug(
        name="an edited message of a file that is read in over HTTP conflicts",
        file="tiermem/wire/arguments.py",
        function="_json",
        before='"imported_turn" if isinstance(value, ImportedTurn) else "turn"',
        after='"turn"',
        found_by=("tests/apps/http/test_import.py",),
    ),
    Bug(
        name="a chat without an id is stored twice over HTTP",
        file="tiermem/api/memory.py",
        function="AsyncMemory.ingest",
        before="any(map(is_compared, sessions))",
        after="False",
        found_by=("tests/apps/http/test_import.py",),
    ),
)
