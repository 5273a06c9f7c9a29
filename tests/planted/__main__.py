"""Count the planted bugs that the quick tier finds.

python -m tests.planted                 all of them
python -m tests.planted --sample 15     15 drawn at random; --seed draws others
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.planted.bugs import BUGS
from tests.planted.planting import copy, verdict


def main() -> None:
    """Run the first test of each bug in the quick tier; print the bugs that it misses."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted")
    parser.add_argument("--sample", type=int, default=len(BUGS), metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    bugs = random.Random(given.seed).sample(BUGS, given.sample)
    quick = whole = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copy(Path(folder) / "tree")
        for bug in bugs:
            if verdict(bug, tree, quick=True).found_by:
                quick += 1
                continue
            found_by = verdict(bug, tree).found_by
            whole += bool(found_by)
            _print(
                f"not in the quick tier: {bug.name}; by all tests: {found_by or bug.excuse or 'not found'}"
            )
    _print(f"{quick} of {len(bugs)} found in the quick tier, {whole} more by all tests")


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
