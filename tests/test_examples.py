"""The examples do what they say."""

import runpy
from pathlib import Path

import tiermem

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_an_agent_talks_on_forgets_nothing_and_shows_where_a_line_came_from(tmp_path: Path) -> None:
    agent = runpy.run_path(str(EXAMPLES / "agent.py"))
    prompts: list[str] = []

    def scripted(prompt: str) -> str:
        prompts.append(prompt)
        return "It is under the stairs, by the ladder." if agent["ASKED"] in prompt else "I see."

    with tiermem.open(tmp_path / "memory", engine="local", embedder="hashed", space="agent") as memory:
        happened = agent["live"](memory, scripted)
        answers = memory.answers()
    assert (happened.turns, len(prompts)) == (200, 101)
    assert happened.most_tokens <= 2_000
    assert happened.evicted > 50
    assert (happened.held_before, happened.held_after) == (False, True)
    assert "ladder under the stairs" in prompts[-1]
    assert happened.reply == "It is under the stairs, by the ladder."
    assert max(happened.weights) > 0
    assert happened.merged > 0
    assert (happened.said_by, happened.line) == ("Ann", "On day 0 I put the ladder under the stairs.")
    assert happened.intact
    assert answers == ()  # no question was asked of memory itself
