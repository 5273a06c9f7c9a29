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
)
