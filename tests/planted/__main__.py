"""Count the planted bugs that the quick tier finds.

python -m tests.planted                 all of them
python -m tests.planted --sample 15     15 drawn at random; --seed draws others
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.planted.bug import Bug
from tests.planted.bugs import BUGS
from tests.planted.planting import copy, verdict


def main() -> int:
    """Run the first test of each bug in the quick tier, and all its tests if that misses it.

    Prints the bugs that the quick tier misses. Returns 1 if a bug that no test finds has no `excuse`, or one
    that only the whole suite finds has no `slow_reason`.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.planted")
    parser.add_argument("--sample", type=int, default=len(BUGS), metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    bugs = random.Random(given.seed).sample(BUGS, given.sample)
    quick = whole = unexplained = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copy(Path(folder) / "tree")
        for bug in bugs:
            if verdict(bug, tree, quick=True).found_by:
                quick += 1
                continue
            found_by = verdict(bug, tree).found_by
            whole += bool(found_by)
            unexplained += not explanation(bug, found_by)
            _print(describe_missed(bug, found_by))
    _print(f"{quick} of {len(bugs)} found in the quick tier, {whole} more by all tests")
    _print(f"{unexplained} missed without a reason")
    return int(unexplained > 0)


def explanation(bug: Bug, found_by: str) -> str:
    """Why the quick tier may miss the bug, as the bug says; empty where it says nothing."""
    return bug.slow_reason if found_by else bug.excuse


def describe_missed(bug: Bug, found_by: str) -> str:
    """One line about a bug that the quick tier misses: the test that finds it, if any, and the reason."""
    why = explanation(bug, found_by) or f"without {'slow_reason' if found_by else 'excuse'}"
    return f"not in the quick tier: {bug.name}; by all tests: {found_by or 'not found'}; {why}"


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
