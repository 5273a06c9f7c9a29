"""How long refusals take, over loopback: `python -m tests.torture.refusals [--rounds N]`.

No key, a wrong one, an unknown one, one for another space, one for another agent, and one that may only read
where something is written, one after the other, round after round; medians in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from tests.torture.serving import Process
from tiermem.apps.http.keys import Keys, keys_beside


def cases(keys: Keys) -> dict[str, tuple[str | None, str, int]]:
    """For each refusal what is shown, what is asked for, and with which status it is refused."""
    reader, _ = keys.make("reader", spaces=["here"], rights=["read"])
    agent, _ = keys.make("agent", spaces=["here"], rights=["write"], agent="zora")
    return {
        "no key": (None, "space=here", 401),
        "wrong key": (f"{reader[:-4]}!!!!", "space=here", 401),
        "unknown key": (f"tm_00000000_{reader[12:]}", "space=here", 401),
        "other space": (reader, "space=there", 403),
        "read key that writes": (reader, "space=here", 403),
        "other agent": (agent, "space=here&agent=ben", 403),
    }


def measured(url: str, keys: Keys, rounds: int) -> dict[str, float]:
    """The median of each refusal, in milliseconds."""
    known = cases(keys)
    took: dict[str, list[float]] = {name: [] for name in known}
    with httpx.Client(base_url=url, trust_env=False) as client:
        for _ in range(rounds):
            for name, (token, where, status) in known.items():
                headers = {} if token is None else {"authorization": f"Bearer {token}"}
                began = time.perf_counter()
                answer = client.post(f"/v1/add?{where}", headers=headers, json={"turns": "Nothing."})
                took[name].append(time.perf_counter() - began)
                if answer.status_code != status:
                    raise AssertionError(f"{name}: {answer.status_code}")
    return {name: round(1000 * statistics.median(times), 3) for name, times in took.items()}


def main() -> int:
    """Measure, and print what came of it as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.refusals", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    given = parser.parse_args()
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        store = Path(place) / "store"
        server = Process(store, rate=0)
        try:
            found = measured(server.url, Keys(keys_beside(store)), given.rounds)
        finally:
            server.stop()
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
