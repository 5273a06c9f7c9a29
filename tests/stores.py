"""The option `--store`: tests that concern a store run on this machine alone, or in PostgreSQL.

A test takes its log or its address from a fixture of `ON_BOTH`, or says why it runs on this machine alone:
`@pytest.mark.local_only("reason")`. With `--store postgresql` only the first are run.
"""

from __future__ import annotations

import pytest

ON_BOTH = frozenset({"logs"})
"""Fixtures of what `--store` chooses."""


def add_options(parser: pytest.Parser) -> None:
    """Add the option `--store`."""
    parser.getgroup("stores").addoption(
        "--store",
        choices=("local", "postgresql"),
        default="local",
        help="local: logs in memory and stores in temporary directories; postgresql: both in one server, "
        "and only the tests that concern a store",
    )


def is_on_postgresql(config: pytest.Config) -> bool:
    """Whether tests that concern a store run in PostgreSQL."""
    return bool(config.getoption("--store") == "postgresql")


class Stores:
    """The hooks behind the option."""

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """In PostgreSQL, deselect tests that concern no store and skip those that cannot run there."""
        if not is_on_postgresql(config):
            return
        others = [item for item in items if not concerns_store(item)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if concerns_store(item)]
        for item in items:
            if marker := item.get_closest_marker("local_only"):
                (reason,) = marker.args
                item.add_marker(pytest.mark.skip(reason=reason))


def concerns_store(item: pytest.Item) -> bool:
    """Whether `--store` makes a difference to the test, or would if it could run there."""
    fixtures = getattr(item, "fixturenames", ())
    return not ON_BOTH.isdisjoint(fixtures) or item.get_closest_marker("local_only") is not None
