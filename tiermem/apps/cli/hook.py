"""`tiermem hook`: memory for coding agents that captures by itself."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

import tiermem
from tiermem.apps.cli import options
from tiermem.apps.cli.app import with_options
from tiermem.apps.cli.group import CommandGroup, remark
from tiermem.apps.hooks import settings
from tiermem.apps.hooks.drain import drain_spool
from tiermem.apps.hooks.events import AgentActivity, LastDrain, read_spool
from tiermem.apps.present.tables import pairs, plural
from tiermem.errors import InvalidInput
from tiermem.storage import StorePlace, open_store

_SHOWN = 3
"""Failures that `status` displays."""

app = typer.Typer(
    name="hook",
    cls=CommandGroup,
    add_completion=False,
    help="Have coding agents keep their sessions in memory by themselves.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
Agent = Annotated[settings.HookedAgent, typer.Argument(help="Which coding agent.")]
Project = Annotated[
    Path | None,
    typer.Option("--project", metavar="FOLDER", help="The settings of this project (those of the person)."),
]


@app.command("install")
@with_options
def install(
    agent: Agent,
    *,
    project: Project = None,
    store: options.Store = options.DEFAULT_STORE,
    dry_run: options.DryRun = False,
    output: options.Output,
) -> None:
    """Add the hooks to the settings of an agent. The change is displayed, and the file as it was is kept."""
    folder = _directory(store)
    if not dry_run:
        open_store(store).close()  # hooks write to a store that is there, and make none
    command = settings.hook_command(agent, folder)
    known = settings.AGENTS[agent]
    _change(
        agent,
        project,
        lambda text: settings.add_hooks(known, text, command),
        dry_run=dry_run,
        output=output,
    )
    if known.advice:
        remark(known.advice)


@app.command("uninstall")
@with_options
def uninstall(
    agent: Agent, *, project: Project = None, dry_run: options.DryRun = False, output: options.Output
) -> None:
    """Take the hooks out of the settings of an agent; those of others stay."""
    known = settings.AGENTS[agent]
    _change(agent, project, lambda text: settings.remove_hooks(known, text), dry_run=dry_run, output=output)


@app.command("status")
@with_options
def status(
    *, project: Project = None, store: options.Store = options.DEFAULT_STORE, output: options.Output
) -> None:
    """Say where hooks are installed, what was stored of their events, which wait and why, and what failed."""
    folder = _directory(store)
    tiermem.spaces(folder)  # an error where there is no store
    files = {agent: known.path(project) for agent, known in settings.AGENTS.items()}
    installed = {
        agent: settings.installed_events(settings.AGENTS[agent], settings.read_file(file))
        for agent, file in files.items()
    }
    spool = read_spool(folder)
    newest = spool.events[-1] if spool.events else None
    activity = {} if spool.last_drain is None else {one.agent: one for one in spool.last_drain.agents}
    untrusted, problem = _untrusted_by_codex(files["codex"])
    value = {
        "store": str(store),
        "agents": [
            {
                "agent": agent,
                "settings": str(file),
                "events": installed[agent],
                "drained": activity.get(agent),
                **({"untrusted": untrusted} if agent == "codex" else {}),
            }
            for agent, file in files.items()
        ],
        "waiting": len(spool.events),
        "statements": len(spool.statements),
        "newest": None if newest is None else {"at": newest.at.isoformat(), "event": newest.name},
        "unreadable": [str(one) for one in spool.unreadable],
        "failures": spool.failures,
        "last_drain": spool.last_drain,
    }

    def rows() -> Table:
        last = "" if newest is None else f", the newest {newest.name} at {newest.at:%Y-%m-%d %H:%M} UTC"
        return pairs(
            [
                *((agent, f"{_state(agent, installed[agent])} ({file})") for agent, file in files.items()),
                *(
                    [("trust", f"Codex has none for {', '.join(untrusted)}: type /hooks there")]
                    if untrusted
                    else []
                ),
                *([("trust", problem)] if problem else []),
                *(row for one in activity.values() for row in _activity_rows(one)),
                ("events that wait", f"{len(spool.events):,}{last}"),
                *([("facts that wait", f"{len(spool.statements):,}")] if spool.statements else []),
                *_last_drain(spool.last_drain),
                *(("no event", str(one)) for one in spool.unreadable),
                *(("failed", line) for line in spool.failures[-_SHOWN:]),
            ]
        )

    output.show(value, rows)


@app.command("drain")
@with_options
def drain(*, store: options.Store = options.DEFAULT_STORE, output: options.Output) -> None:
    """Store what the events name, prompts that are in no transcript, and facts of other processes.

    It asks no model. It is started by the hooks, after each turn of the agent.
    """
    done = drain_spool(_directory(store), now=datetime.now(UTC))

    stored = [f"{space}: {plural(new, 'new turn')}" for space, new in done.stored.items()]
    stored += [f"remembered for other processes: {plural(done.facts, 'fact')}"] if done.facts else []
    output.show(done, lambda: "\n".join(stored) or "nothing new")
    for problem in done.problems:
        remark(problem)
    if done.waiting:
        remark(f"left for the next time: {plural(done.waiting, 'file')} of the spool")


def _untrusted_by_codex(file: Path) -> tuple[tuple[str, ...], str]:
    """The events for which Codex has no trust, and why that is not known."""
    config = settings.AGENTS["codex"].path(None).with_name("config.toml")
    try:
        text = settings.read_file(file)
        return settings.untrusted_events(file.absolute(), text, settings.read_file(config)), ""
    except InvalidInput as error:
        return (), f"not known: {error} ({config})"


def _activity_rows(one: AgentActivity) -> list[tuple[str, str]]:
    """What was taken in of an agent, against what was stored of it."""
    has_begun_only = one.events == 1 and one.event == "SessionStart"  # it has no transcript yet
    nothing = "" if one.turns or has_begun_only else ": are its transcripts where its events say?"
    last = f"the last {one.event} at {one.at:%Y-%m-%d %H:%M} UTC"
    stored = f"{plural(one.events, 'event')} taken in, {last}; {plural(one.turns, 'turn')} stored{nothing}"
    return [(f"of {one.agent}", stored), *((f"of {one.agent}", note) for note in one.untested)]


def _last_drain(last: LastDrain | None) -> list[tuple[str, str]]:
    """How the last drain ended, and so why events wait."""
    if last is None:
        return [("last drain", "none has ended yet")]
    left = f"; left for their transcripts: {plural(last.prompts_left, 'prompt')}" if last.prompts_left else ""
    at = f"{last.at:%Y-%m-%d %H:%M} UTC"
    more = len(last.problems) - _SHOWN
    return [
        ("last drain", f"{at}{left}"),
        *(("problem", line) for line in last.problems[:_SHOWN]),
        *([("", f"and {plural(more, 'more problem')}")] if more > 0 else []),
    ]


def _state(agent: settings.HookedAgent, events: Collection[str]) -> str:
    missing = [event for event in settings.AGENTS[agent].events if event not in events]
    if not events:
        return "not installed"
    return f"installed, but not at {', '.join(missing)}" if missing else "installed"


def _directory(store: StorePlace) -> Path:
    return store.require_directory("hook", instead="`tiermem ingest --from` reads the sessions")


def _change(
    agent: settings.HookedAgent,
    project: Path | None,
    change: Callable[[str], str],
    *,
    dry_run: bool,
    output: options.Output,
) -> None:
    """Change the file of settings, displaying how; a file that stays the same is not written.

    One of which nothing is left is removed. Raises `InvalidInput` where there is no folder of the project.
    """
    if project is not None and not project.is_dir():
        raise InvalidInput(f"there is no folder {str(project)!r}: name that of a project")
    file = settings.AGENTS[agent].path(project)
    before = settings.read_file(file)
    after = change(before)
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), str(file), str(file)
    )
    difference = "".join(lines)
    backup = file.with_name(f"{file.name}.before-tiermem")
    if difference and not dry_run:
        if before:
            settings.write_file(backup, before, mode_of=file)
        if after:
            settings.write_file(file, after, mode_of=file)
        else:
            file.unlink()
    output.show(
        {"agent": agent, "settings": str(file), "changed": bool(difference), "difference": difference},
        lambda: (Text(difference or f"{file} stays as it is"),),
    )
    if difference and before and not dry_run:
        remark(f"the file as it was: {backup}")
