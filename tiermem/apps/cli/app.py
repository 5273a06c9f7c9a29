"""The command line. A command is a function in the file of its name, with its arguments and what it prints.

To add one, write its file and its line in `COMMANDS`. A command parses, calls a memory, prints; it decides
nothing about memory. Its file is imported when it is run, so that `--help` and completion are quick.

Exit codes: 0 done, 1 an error in one line, 2 wrong usage, 3 `verify` found damage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command

from tiermem.apps.cli.group import OpenGroup

COMMANDS = {
    "demo": "Ingest a dialogue that ships with TierMem, ask questions, and show the way to the words.",
    "ingest": "Store dialogue and summarise it. Files are read in full first; what is known is not stored twice.",
    "ask": "Display what was said about a question, with who said it and when; with a model, answer it.",
    "context": "Print what memory holds for a question as a block for a prompt: no model is asked.",
    "profile": "Print what is stated and what people said last, with addresses, as a block for a prompt.",
    "search": 'Find summaries, turns or pages by meaning and by words; a "phrase" in quotation marks exactly.',
    "recall": "Find what was said on a topic, also in some time alone, by meaning, by words or both.",
    "audit": "Follow an answer to its citations and the words as they stand in their pages.",
    "replay": "Show how a past answer came about: candidates, scores, route, prompts and checks, as they were.",
    "answers": "List the answers given, with the ids to audit them by.",
    "page": "Print a page: what was said, verbatim.",
    "pages": "List the pages, sealed ones and those still filling.",
    "units": "List the summary units and the pages they rest on.",
    "stats": "Count what a memory holds, what waits, what the summaries lost, and tokens saved.",
    "omissions": "Say what the summaries lost: numbers, dates, names, negations and rare words no unit keeps.",
    "redistil": "Have a language model summarise a page again, given what its units leave out. Units are only added.",
    "consolidate": "Do what waits, and merge the units that tell the same. A merge is recorded, and can be undone.",
    "verify": "Re-derive every hash and name what is damaged (exit code 3).",
    "checkpoint": "Commit to everything so far: size and root of each space's Merkle tree, signed if you like.",
    "verify-bundle": "Check an audit bundle, offline and without a store (exit code 3 when it does not hold).",
    "reindex": "Rebuild the index from pages and ledger, without a model call.",
    "erase": "Take words out of memory for ever, with all that rests on them. Exit code 3 when any may be left.",
    "expire": "Erase old turns of one kind out of the sessions of coding agents. Exit code 3 as for `erase`.",
    "withdraw": "Take back a unit: it is recalled no more, nor are its words; what it superseded returns.",
    "reinstate": "Undo `withdraw`: the unit holds again, and so do its words.",
    "remember": "Keep a fact word for word, as a turn and a unit of its own; without a model call.",
    "correct": "Remember a fact in place of a unit, which it supersedes.",
    "feedback": "Record how an answer turned out, and credit the units behind it.",
    "grant": "Let an agent see what belongs to another.",
    "revoke": "Undo a grant: the agent sees nothing of the other any more.",
    "grants": "List which agents may see whose things.",
    "share": "Let every agent see units of one of them, as they read; the words they rest on stay its own.",
    "signals": "Tell how much a unit matters, how often it was cited, and how that turned out.",
    "trail": "Show what a unit superseded and what superseded it, each with the words it rests on.",
    "backup": "Write one file of a store: every page and everything concluded, without the index.",
    "restore": "Make a store of a backup, every hash checked. The index is built again when a space is first used.",
    "copy": "Copy a memory to another directory or database, with ids, proofs and answers. Run again, it goes on.",
    "export": "Write the dialogue of a space as JSON lines, which `tiermem ingest` reads back.",
    "doctor": "Look at what memory needs: weights, model, index, store, room (exit code 1: some is missing).",
    "spaces": "List the spaces of a store.",
    "mcp": "Serve a memory to agents by the Model Context Protocol: over standard input and output, or by HTTP.",
    "hook": "Have coding agents keep their sessions in memory by themselves.",
    "look": "Look at a memory in the browser: ask, and follow answers to the words. Writes nothing of itself.",
    "serve": "Serve the memories of a store over HTTP to clients that have a key.",
    "keys": "Make, list and revoke the keys of `tiermem serve`.",
    "eval": "Measure retrieval and answers on LoCoMo, LongMemEval, REALTALK and BEAM, with baselines.",
}
"""Every command in the order of `tiermem --help`, with the first line of its own help."""

app = typer.Typer(
    name="tiermem",
    cls=OpenGroup,
    help="A memory agents can prove: every answer leads to the exact words it rests on.",
    epilog="Try `tiermem demo` first. It needs no key, no server and no network.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tiermem {version('tiermem')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


class LazyCommand(TyperCommand):
    """A command's name and line of help; the command itself is imported to run it or to tell its options."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself, which is what is run and completed then."""
        return load(self.name or "").make_context(info_name, args, parent, **extra)


def load(name: str) -> Any:
    """The command of this name, as Typer makes it of the function in the file of the name, or of its `app`."""
    plain = name.replace("-", "_")
    module = import_module(f"tiermem.apps.cli.{plain}")
    if hasattr(module, "app"):
        return get_command(module.app)
    function = getattr(module, plain)
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    alone.command(name)(with_options(function))
    made = get_command(alone)
    for one in made.params:
        if one.param_type_name == "argument" and one.name is not None:
            one.metavar = one.metavar or one.name.upper()  # as it is written in `docs/commands.md`
    return made


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer shall read it: a group of options gives way to the options it consists of.

    A group is a parameter whose type is a dataclass of options. The command is called with the group.
    """
    groups: dict[str, Any] = {
        name: kind
        for name, kind in get_type_hints(command, include_extras=True).items()
        if is_dataclass(kind)
    }

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{option: given.pop(option) for option in signature(group).parameters})
        command(**given)

    def parameters() -> Iterator[Parameter]:
        for one in signature(command, eval_str=True).parameters.values():
            group = groups.get(one.name)
            yield from signature(group, eval_str=True).parameters.values() if group else (one,)

    vars(run)["__signature__"] = Signature(list(parameters()))
    return run


for _name, _line in COMMANDS.items():
    app.command(_name, cls=LazyCommand, help=_line)(lambda: None)
