"""What several commands take: options, groups of options, and how values are written.

A command takes a group as one parameter, whose options are in its help in place of the parameter:
`place: Place` is `--store` and `--space`.
"""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import tiermem
from pagestore.errors import Locked
from tiermem.apps.cli.group import remark
from tiermem.apps.present.as_json import print_json
from tiermem.apps.present.progress import show_activity
from tiermem.apps.present.terminal import out, program
from tiermem.errors import IndexLocked, InvalidInput
from tiermem.model import Budget
from tiermem.storage import StorePlace, parse_place

if TYPE_CHECKING:
    from rich.console import RenderableType
from rich.text import Text

DEFAULT_SPACE = "default"
DEFAULT_STORE = parse_place("memory")

EngineName = Literal["auto", "local", "model"]
Kind = Literal["any", "units", "turns", "pages"]
KeyValues = dict[str, str | float | bool]


def expand_home(path: Path) -> Path:
    """Return the path with `~` as the home directory; `~` of an unknown user is kept."""
    return Path(os.path.expanduser(path))  # noqa: PTH111


def parse_store(written: str | StorePlace) -> StorePlace:
    """Read where a store is kept; the message about a broken URL does not quote it."""
    if isinstance(written, StorePlace):
        return written
    try:
        return parse_place(os.path.expanduser(written))  # noqa: PTH111  (keeps "~" of an unknown user)
    except InvalidInput as error:
        raise typer.BadParameter(str(error), param_hint="'--store'") from error


Store = Annotated[
    StorePlace,
    typer.Option(
        "--store",
        envvar="TIERMEM_STORE",
        help="Directory of the memory, or the URL of a PostgreSQL database.",
        parser=parse_store,
        metavar="PATH",
    ),
]
Opened = AbstractContextManager["tiermem.Memory"]
Agent = Annotated[
    str | None,
    typer.Option("--agent", envvar="TIERMEM_AGENT", help="As this agent, which sees its own (the owner)."),
]
Session = Annotated[str | None, typer.Option("--session", help="Only this session.")]
Engine = Annotated[
    EngineName,
    typer.Option("--engine", help="A model where one is configured (auto), or none (local)."),
]
Metadata = Annotated[
    list[str] | None,
    typer.Option("--metadata", metavar="KEY=VALUE", help="Kept with every turn, and found by --where."),
]
Importance = Annotated[
    float | None, typer.Option("--importance", help="How much it matters, from 0 to 1. Kept with every turn.")
]
ReadOnly = Annotated[
    bool,
    typer.Option(
        "--read-only", help="Take no lock and write nothing. So it is anyway while another process writes."
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace the file if it exists.")]
Reason = Annotated[str, typer.Option("--reason", help="Why. It stays on record.")]
ReasonUnlessTried = Annotated[
    str, typer.Option("--reason", help="Why. It stays on record; not needed for a dry run.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Do nothing: say exactly what would go.")]
SaidRole = Annotated[
    str | None, typer.Option("--role", help="In which role, if none is named: user, assistant, tool, …")
]
AnswerId = Annotated[str | None, typer.Argument(help="An answer's id (the newest answer).")]
PageId = Annotated[
    str, typer.Argument(help="A page id, a beginning that only one page has, or the address of a turn.")
]
UnitId = Annotated[str, typer.Argument(help="A unit's id, or a beginning that only one has.")]
UnitOrTurn = Annotated[
    str,
    typer.Argument(
        metavar="UNIT_ID", help="A unit's id, a beginning that only one has, or the address of a turn."
    ),
]


def needs_reason(reason: str, *, dry_run: bool) -> None:
    """Have nothing done without a reason."""
    if not (reason.strip() or dry_run):
        raise typer.BadParameter("say why: it stays on record", param_hint="'--reason'")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceOptions:
    """Which memory: one space of a store."""

    store: Store = DEFAULT_STORE
    space: Annotated[
        str | None,
        typer.Option("--space", envvar="TIERMEM_SPACE", help="Whose memory. Not needed where there is one."),
    ] = None

    agent: Agent = None

    def open(self, *, engine: EngineName = "local", read_only: bool = False) -> Opened:
        """The memory, which must exist. Without the name of a space: the only one, or the default one."""
        space = _only_space(self.store) if self.space is None else self.space
        with show_activity(f"{space}: opening"):
            memory = tiermem.open(
                self.store.address, space=space, engine=engine, read_only=read_only, create=False
            )
        return as_agent(memory, self.agent)

    def look(self, *, engine: EngineName = "local", read_only: bool) -> Opened:
        """The memory; read-only where asked to, and while another process has it open for writing."""
        if not read_only:
            try:
                return self.open(engine=engine)
            except (Locked, IndexLocked):
                remark(
                    "another process has this memory open for writing: looking read-only, nothing is recorded"
                )
        return self.open(engine=engine, read_only=True)

    def command(self, name: str, *arguments: str) -> str:
        """A command line for the same store, space and agent, as short as it may be."""
        usual = str(parse_store(os.environ.get("TIERMEM_STORE", DEFAULT_STORE)))
        where = [] if str(self.store) == usual else ["--store", str(self.store)]
        if self.space is not None and self.space != os.environ.get("TIERMEM_SPACE"):
            where += ["--space", self.space]
        if self.agent is not None and self.agent != os.environ.get("TIERMEM_AGENT"):
            where += ["--agent", self.agent]
        return f"{program()} {shlex.join([name, *arguments, *where])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Which memories: all spaces of a store, or one of them."""

    store: Store = DEFAULT_STORE
    space: Annotated[str | None, typer.Option("--space", help="Only this one (all of them).")] = None

    def each(self) -> Iterator[SpaceOptions]:
        """Each of them."""
        for name in tiermem.spaces(self.store.address) if self.space is None else (self.space,):
            yield SpaceOptions(store=self.store, space=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterOptions:
    """When it is asked, and which turns are looked at, under the names that a memory's methods give it."""

    session: Session = None
    asked_at: Annotated[
        str | None, typer.Option("--asked-at", help="When it is asked, for words like “yesterday” (now).")
    ] = None
    min_trust: Annotated[
        str | None, typer.Option("--min-trust", help="Leave out what rests on anybody trusted less.")
    ] = None
    speaker: Annotated[
        str | None, typer.Option("--speaker", help="Only what this speaker said, in any case.")
    ] = None
    role: Annotated[
        str | None, typer.Option("--role", help="Only turns of this role: user, assistant, tool, …")
    ] = None
    said_after: Annotated[
        str | None, typer.Option("--after", help="Only what was said then or later; a day counts whole.")
    ] = None
    said_before: Annotated[
        str | None, typer.Option("--before", help="Only what was said then or earlier; a day counts whole.")
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="KEY=VALUE", help="Only turns whose metadata tells this; all of them."
        ),
    ] = None

    def keywords(self) -> dict[str, Any]:
        """As keywords of `ask`, `search`, `recall` and `context`."""
        asked_at = moment("--asked-at", self.asked_at)
        return {**asdict(self), "asked_at": asked_at, "where": key_values("--where", self.where)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactOptions:
    """Who states a fact, and what is kept with it, under the names that a memory's methods give it."""

    speaker: Annotated[str | None, typer.Option(help="Who states it (user).")] = None
    trust: Annotated[str | None, typer.Option(help="How far to trust it.")] = None
    metadata: Metadata = None
    importance: Importance = None

    def keywords(self) -> dict[str, Any]:
        """As keywords of `remember` and `correct`."""
        return {**asdict(self), "metadata": key_values("--metadata", self.metadata)}


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where what a command did is printed, and how."""

    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False

    def show(self, value: object, view: Callable[[], RenderableType | tuple[RenderableType, ...]]) -> None:
        """Print `value` as JSON, or for people what `view` makes: of a tuple, texts are not wrapped."""
        if self.as_json:
            print_json(value)
            return
        shown = view()
        console = out()
        for part in shown if isinstance(shown, tuple) else (shown,):
            console.print(part, soft_wrap=part is not shown and isinstance(part, Text))


@dataclass(frozen=True, kw_only=True)
class Looking(Output):
    """The same for a command that never writes."""

    read_only: Annotated[
        bool, typer.Option("--read-only", help="Take no lock and write nothing: this command never does.")
    ] = False


@contextmanager
def as_agent(memory: tiermem.Memory, agent: str | None) -> Iterator[tiermem.Memory]:
    """The memory, or as an agent sees it; it is closed with either, which may take as long as indexing."""
    with ExitStack() as closing, memory:
        try:
            yield memory if agent is None else memory.as_agent(agent)
        finally:
            closing.enter_context(
                show_activity(f"{memory.space}: closing, once index and summaries are done")
            )


def answer_named(memory: tiermem.Memory, written: str | None) -> str:
    """The id of an answer, that of the newest where none is written."""
    if written:
        return written
    given = memory.answers()
    if not given:
        raise InvalidInput(f"space {memory.space!r} has given no answer yet: `tiermem ask` gives one")
    return given[-1].id


def page_named(memory: tiermem.Memory, written: str) -> str:
    """The id of the one page whose id begins so; as it is written where none or several do.

    The address of a turn is left as it is.
    """
    return _begun((info.id for info in memory.pages()), written)


def unit_named(memory: tiermem.Memory, written: str) -> str:
    """The unit whose id this is, or the only one, active or taken back, whose id begins so."""
    taken = (one.unit_id for page in memory.pages() for one in page.taken_back)
    return _begun(dict.fromkeys((*(unit.id for unit in memory.units()), *taken)), written)


def moment(option: str, written: str | None) -> datetime | None:
    """The moment an option writes, in the local time zone where it names none."""
    from tiermem.dialogue import parse_time, until

    try:
        found = (until if option == "--as-of" else parse_time)(written)
        return found if found is None or found.tzinfo else found.astimezone()
    except InvalidInput as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def limits(written: str | None) -> Budget | None:
    """The limits that `--budget` writes: names and numbers of `Budget`, comma-separated."""
    if written is None:
        return None
    read: dict[str, Callable[[str], float]] = {"calls": int, "tokens": int, "seconds": float, "cost": float}
    found: dict[str, Any] = {}
    for part in written.split(","):
        name, _, number = part.strip().partition("=")
        try:
            found[name] = read[name](number)
        except (KeyError, ValueError):
            found[name] = -1
        if not 0 <= found[name] < math.inf:
            wrong = f"{part.strip()!r} is no limit; write calls=5,tokens=4000,seconds=20,cost=0.05"
            raise typer.BadParameter(wrong, param_hint="--budget")
    return Budget(**found)


def key_values(option: str, written: list[str] | None) -> KeyValues | None:
    """What options of KEY=VALUE say; `true`, `false` and numbers are what they say, all else is text."""
    if not written:
        return None
    found: KeyValues = {}
    for pair in written:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise typer.BadParameter(f"{pair!r} is no KEY=VALUE", param_hint=option)
        try:
            read = json.loads(value)
        except ValueError:
            read = value
        found[key] = read if isinstance(read, str | int | float) else value
    return found


def _only_space(store: StorePlace) -> str:
    names = tuple(tiermem.spaces(store.address))
    if DEFAULT_SPACE in names or not names:
        return DEFAULT_SPACE
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    raise InvalidInput(f"{store} holds {len(names)} spaces: name one with --space ({shown})")


def _begun(ids: Iterable[str], written: str) -> str:
    begins = [one for one in ids if one.startswith(written)]
    return begins[0] if len(begins) == 1 else written
