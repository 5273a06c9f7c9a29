"""Contracts for import-linter about packages of others: who may import which, as general rules."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

_OURS = {"tiermem", "pagestore", "eval"}


def _others(graph: ImportGraph, packages: Iterable[str]) -> dict[str, set[str]]:
    """The packages of others that modules of some packages import, each with who imports it."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for package in packages:
        for module in {package, *graph.find_descendants(package)}:
            for imported in graph.find_modules_directly_imported_by(module):
                if imported.partition(".")[0] not in {*_OURS, *sys.stdlib_module_names}:
                    importers[imported].add(module)
    return importers


class _Told(Contract):
    """A contract that is kept where it has nothing to tell."""

    def broken_by(self, graph: ImportGraph) -> list[str]:
        """A line for each import that it refuses."""
        raise NotImplementedError

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """See `importlinter.Contract.check`."""
        told = sorted(self.broken_by(graph))
        return ContractCheck(kept=not told, metadata={"told": told})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """See `importlinter.Contract.render_broken_contract`."""
        for line in check.metadata["told"]:
            output.print_error(line)


class StandardLibraryAlone(_Told):
    """A package imports nothing that Python does not bring; some of its modules may."""

    type_name = "standard_library_alone"
    package = fields.StringField()
    but = fields.SetField(subfield=fields.StringField(), required=False, default=set())

    def broken_by(self, graph: ImportGraph) -> list[str]:
        """Imports of packages of others."""
        others = _others(graph, [str(self.package)])
        return [
            f"{module} -> {other}: {self.package} has the standard library and nothing else"
            for other, importers in others.items()
            for module in importers - set(self.but)  # type: ignore[call-overload]
        ]


class OneFileEach(_Told):
    """A package of others is imported in one file, or in one and in a part of it that nobody else imports."""

    type_name = "one_file_each"
    packages = fields.ListField(subfield=fields.StringField())
    shared = fields.SetField(subfield=fields.StringField())

    def broken_by(self, graph: ImportGraph) -> list[str]:
        """Imports of a package by more files than the one that owns it."""
        told = []
        for other, importers in _others(graph, self.packages).items():  # type: ignore[arg-type]
            parts = {
                module
                for module in importers
                if (by := graph.find_modules_that_directly_import(module)) and by < importers
            }
            owners = importers - parts
            if len(owners) > 1 and other not in self.shared:  # type: ignore[operator]
                told += [f"{module} -> {other}: several files have this package" for module in owners]
        return told
