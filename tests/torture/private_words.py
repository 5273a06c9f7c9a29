"""The row on guessing another agent's words from the scores and the order of one's own turns.

An agent searches once for each of many numbers. One is the private number of another agent; the others are
in no turn. Where private words have no part in scores and order, the rank of the private number among
the others is any rank: small p-values of 20 such ranks together are chance.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import tiermem
from pagestore import Turn
from tests.apps.http.conftest import Server, keys_of
from tests.torture.harness import Outcome, Row, Share
from tiermem.embedding.hashed import HashEmbedder
from tiermem.embedding.interface import Embedder
from tiermem.embedding.minilm import MiniLMEmbedder

DECOYS = 1_999
"""Numbers that no turn holds, compared with the private one."""

SMALLEST = 0.01
"""The p-value up to which ranks are no chance."""

LIVES = 20
"""Lives whose p-values are taken together."""

_THINGS = ("bank card", "bicycle lock", "blue case", "cellar", "tablet", "voicemail", "locker", "gate")


def guesses(share: Share) -> Outcome:
    """Lives of three agents, one of which looks for what another one keeps to itself."""
    outcome, chance = Outcome(), share.chance()
    by_score: list[float] = []
    by_order: list[float] = []
    for case in share.cases:
        scores, places = _searched(case, chance)
        by_score.append(p_of_first(scores))
        by_order.append(p_of_first(places))
        outcome.count += 1
        outcome.seen["guesses"] += len(scores)
    outcome.demand(p_together(by_score) > SMALLEST, "scores tell a private number")
    outcome.demand(p_together(by_order) > SMALLEST, "the order tells a private number")
    return outcome


def _searched(case: int, chance: random.Random) -> tuple[list[float], list[float]]:
    """For each number, the private one first: what scores come to, and where the agent's numbers stand."""
    embedder: Embedder = MiniLMEmbedder() if case % 2 else HashEmbedder()
    numbers = [f"{number}" for number in chance.sample(range(1_000, 10_000), DECOYS + 1)]
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        store = Path(place) / "store"
        with tiermem.open(store, engine="local", embedder=embedder) as owner:
            _tell(owner, numbers[0], chance, granted=bool(case & 4))
            if not case & 2:
                return _look(owner.as_agent("spy"), numbers)
        with _served(store, embedder) as spy:
            return _look(spy, numbers)


def _tell(owner: tiermem.Memory, private: str, chance: random.Random, *, granted: bool) -> None:
    """Numbers of six digits that the agent may see, and one of four among those of another agent."""
    for agent in ("spy", "friend"):
        mine = [f"The PIN of my {thing} is {chance.randrange(10**5, 10**6)}." for thing in _THINGS]
        mine += [f"I met {thing} number {at} at the lake." for at, thing in enumerate(_THINGS)]
        for at, text in enumerate(mine):
            owner.as_agent(agent).add(Turn(speaker="Ann", text=text), session=f"{agent} {at}")
    theirs = [f"The PIN of the {thing} is {chance.randrange(10**5, 10**6)}." for thing in _THINGS]
    theirs.insert(chance.randrange(len(theirs)), f"My PIN is {private}.")
    for at, text in enumerate(theirs):
        owner.as_agent("other").add(Turn(speaker="Zora", text=text), session=f"other {at}")
    if granted:
        owner.grant("spy", to_see="friend")
    owner.flush()


@contextmanager
def _served(store: Path, embedder: Embedder) -> Iterator[tiermem.Memory]:
    """The agent's memory over HTTP, by a key that may read alone."""
    token, _ = keys_of(store).make("spy", spaces=["*"], rights=["read"], agent="spy")
    server = Server(store, engine="local", embedder=embedder)
    try:
        with tiermem.open(server.url, key=token) as memory:
            yield memory
    finally:
        server.stop()


def _look(spy: tiermem.Memory, numbers: Sequence[str]) -> tuple[list[float], list[float]]:
    scores: list[float] = []
    places: list[float] = []
    for number in numbers:
        found = spy.search(f"Is the PIN {number}?", kind="turns", limit=20)
        # What meaning adds (ten times the cosine, of a turn by itself) differs from number to number.
        rest = (one.score - 10 * (one.similarity or 0.0) for one in found)
        scores.append(round(math.fsum(rest), 6))
        places.append(sum(at for at, one in enumerate(found) if "PIN" in one.text))
    return scores, places


def p_of_first(values: Sequence[float]) -> float:
    """How likely the first value ranks so near an end, where any rank is as likely; equals share a rank."""
    below = sum(value < values[0] for value in values)
    equal = sum(value == values[0] for value in values)
    share = (below + equal / 2) / len(values)
    return min(1.0, 2 * min(share, 1 - share))


def p_together(values: Sequence[float]) -> float:
    """How likely p-values are together so small where there is nothing to find (Fisher)."""
    half = -math.fsum(map(math.log, values))
    return math.exp(-half) * math.fsum(half**at / math.factorial(at) for at in range(len(values)))


ROWS = (
    Row(
        name="private-words",
        failure="an agent that guesses another one's words",
        done="an agent searches for a private number of another agent and 1,999 that no turn holds, "
        "with word hashes and MiniLM, locally and over HTTP, with and without a grant; the rank of the "
        "private one, by scores and by order, is any rank (p > .01 over 20 lives)",
        unit="lives",
        count=160,
        share=LIVES,
        work=guesses,
        minutes=25,
    ),
)
