"""Bugs of `pagestore`: what several writers of one log see of each other."""

from tests.planted.bug import Bug

BUGS = (
    Bug(
        name="a writer builds on what it knew, not on what another writer appended",
        file="pagestore/journal.py",
        function="Journal._begin",
        before="self._fold_appended(appended)",
        after="pass",
        found_by=("tests/pagestore/test_contract.py",),
    ),
    Bug(
        name="pages stay in memory when another writer erased words of them",
        file="pagestore/journal.py",
        function="Journal._fold",
        before="self._forget()",
        after="pass",
        found_by=("tests/pagestore/test_contract.py",),
    ),
)
