"""The same over HTTP: what an agent may not see has no part in what a server sends it."""

from tests.api.conftest import OpenMemory
from tests.api.test_private_words import HIDDEN, add_turns, hold_alike, search_all


def test_private_turns_of_another_agent_change_nothing_of_what_is_sent(open_remote: OpenMemory) -> None:
    without_others, with_others = (
        search_all(add_turns(open_remote(space=f"s{hidden}"), hidden)) for hidden in (0, HIDDEN)
    )
    hold_alike(without_others, with_others)
