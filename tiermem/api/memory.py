"""`AsyncMemory` owns the order of steps and no step itself.

Every public method reads as the list of packages it passes through. Writing happens in `writing/`,
reading in `reading/`; what may run later (summarising, write-back) goes to one background worker
whose failures are kept and shown by `stats` and `flush`, because what it left undone stays pending
in the ledger and is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Self, TypeVar, Unpack
from weakref import WeakSet, finalize

from pydantic import SecretStr

from pagestore import (
    Checkpoint,
    GrowthProof,
    Page,
    PageId,
    SessionId,
    SpaceId,
    TurnAddress,
    VerifyReport,
)
from pagestore.address import is_address
from pagestore.bundle import Bundle
from tiermem.api import arguments, copies, replaying
from tiermem.api.caller import SpaceCaller
from tiermem.api.erasing import erase, plan_erasure, scan_leftovers
from tiermem.api.leftovers import LeftoverScan
from tiermem.api.profiling import read_profile
from tiermem.api.requests import Attribution, Filters, Overrides, Says, spelled_out
from tiermem.api.results import (
    Added,
    BackedUp,
    Exported,
    Flushed,
    Receipt,
    Reindexed,
    SessionInfo,
)
from tiermem.api.stats import Stats, stats
from tiermem.api.storing import lowest_trust, read_statement, store_turns
from tiermem.api.workspace import AsyncWorkspace, TimeframeLike, Workspace, as_async_workspace
from tiermem.dialogue import AgentTurnKind, Conversation, DialogueSession, TimeLike
from tiermem.errors import (
    InvalidInput,
    UnknownId,
    agent_in,
    text_in,
)
from tiermem.index.values import About
from tiermem.ledger import ALL, AnswerInfo, Grant, Redistilled, SetAside
from tiermem.llm.meter import Meter, require_prices
from tiermem.model import (
    Answer,
    AnswerId,
    AskMode,
    AskStep,
    Budget,
    Evidence,
    MarkedPage,
    MarkedPageInfo,
    SummaryUnit,
    UnitId,
    Usage,
    WriteBack,
)
from tiermem.reading import (
    Audit,
    Context,
    Kind,
    OmissionReport,
    Recollection,
    Replay,
    Strategy,
    UnitHistory,
    omission_report,
    unknown_page,
)
from tiermem.reasoning import Engine
from tiermem.runtime.background import Background
from tiermem.runtime.calls import Calls, finish_on_close, operation
from tiermem.runtime.components import Components, EngineName, Opening
from tiermem.runtime.jobs import CONSOLIDATING
from tiermem.runtime.opening import build, opening_difference
from tiermem.runtime.shared_components import SharedComponents, acquire_components
from tiermem.salience import Outcome, Signals
from tiermem.settings import Settings
from tiermem.text.fingerprints import fingerprints_of
from tiermem.text.question import Question
from tiermem.trust import lower_turns
from tiermem.workspace import MOST_TOKENS, ActiveSet, Eviction, Item
from tiermem.writing import (
    Consolidation,
    DistilReport,
    Expiry,
    Judged,
    Progress,
    ReinstatedUnit,
    Remembered,
    Selection,
    UnfinishedWork,
    Withdrawn,
)
from tiermem.writing.chats import continue_chats, is_compared


class AsyncMemory:
    """One space's memory. Open it with `AsyncMemory.open`; close it, or use `async with`."""

    def __init__(self, opened: SharedComponents, user: object, *, agent: str | None = None) -> None:
        """Use `AsyncMemory.open`."""
        self._opened = opened
        self._user = user
        self._agent = agent
        self._views: WeakSet[AsyncMemory] = WeakSet()
        self._owner: AsyncMemory | None = None
        """The memory that this one is a view of; `None` of one that was opened."""
        self._jobs = opened.jobs
        self._lock = opened.lock
        self._background = Background(opened)
        self._caller = SpaceCaller(opened, agent)
        self._calls = Calls()

    def __repr__(self) -> str:
        components = self._opened.components
        if components is None or self._calls.closing:
            return f"<{type(self).__name__}, closed>"
        opening = components.opening
        where = "in memory" if opening.is_in_memory else f"in {opening.place.shown!r}"
        alone = ", read-only" if components.read_only else ""
        alone += "" if self._agent is None else f", as agent {self._agent!r}"
        return f"<{type(self).__name__} of space {components.ledger.space!r} {where}{alone}>"

    @classmethod
    async def open(
        cls,
        path: str | Path,
        *,
        space: str = "default",
        engine: EngineName | Engine = "auto",
        read_only: bool = False,
        create: bool = True,
        reindex: bool = False,
        settings: Settings | None = None,
        key: str | SecretStr | None = None,
        **overrides: Unpack[Overrides],
    ) -> AsyncMemory:
        """Open the memory kept in directory `path` (`":memory:"` for one that ends with the process).

        `engine` is `"model"`, `"local"`, `"auto"` (a model when `Settings.model` names one) or an `Engine`.
        `overrides` are fields of `Settings` (an unknown one, or a value that is not known, is
        `InvalidInput` and names what there is), or ready parts: `model` a `LanguageModel` or a function,
        `embedder` an `Embedder`, `index` an `Index`, `reranker` a `Reranker`.
        With `create=False` an unknown space is `UnknownId`. With `reindex=True` the index of the whole
        store is deleted first (on a server what is there of this store, and not what is of others) and
        each space is put into a new one when it is next opened.
        Opened again by the same process (a notebook's cell run twice) a space is not opened twice: the new
        memory works on the parts that are open. Each is closed by itself, and the parts with the last one.
        Where it is to be opened otherwise, `InvalidInput` says which setting differs. What one event loop has
        open is `Locked` for another.
        Raises `pagestore.errors.Locked` when another process has the space open for writing,
        `IndexMismatch` when the index was built with another embedder, `EmbedderUnavailable` when the
        directory named for the weights does not hold them; where none was named and there are none, what
        was said is found by its words alone, and answers and `stats().problems` say so. `read_only=True`
        takes no lock and writes nothing: search, ask, verify and audit while another process writes. It sees
        what was there when it was opened.
        When `path` is the URL of a PostgreSQL database (`"postgresql://ann:…@host/memory"`, which needs
        `tiermem[postgres]`) several processes may write the space at once: before each call it reads what
        others wrote. Its index is in the same database.
        `Inaccessible` says that the database is not reached or refuses.
        When `path` is a URL (`"http://127.0.0.1:8000"`) the memory is that of a server (`tiermem serve`), and
        `key` one that it knows: the same methods, each of them a request. How it is opened is the server's to
        choose, so of all else only `space` and `create` are taken. `ServerUnavailable` where none answers.
        """
        from tiermem.api.remote import RemoteOpening, check_opening, connect  # it is made of this class

        opening = check_opening(
            path,
            key=key,
            space=space,
            create=create,
            engine=engine,
            read_only=read_only,
            reindex=reindex,
            settings=settings,
            overrides=overrides,
        )
        if isinstance(opening, RemoteOpening):
            return await connect(opening)
        return await open_shared_memory(cls, opening)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def space(self) -> SpaceId:
        """The space this memory reads and writes."""
        return self._open_components.ledger.space

    @property
    def engine(self) -> str:
        """Who reasons: `local`, `model:` with the model's name, or the name of an `Engine`."""
        return self._open_components.engine.name

    @property
    def agent(self) -> str | None:
        """As which agent it reads and writes; `None` as the owner of the space, who sees everything."""
        return self._agent

    def as_agent(self, name: str) -> Self:
        """The same space as the agent of this name sees it, over the same open parts; closed with this one.

        What it adds is its own: other agents see none of it, nor of what is made of it, unless the owner says
        so (`grant`) or a unit is shared (`share`). It sees its own, what is of no agent, what was shared and
        what it was granted. It changes, withdraws and erases its own alone, and to whatever it may not see
        everything replies as to what there is not. What is for the owner alone is `InvalidInput`.
        """
        if self._agent is not None:
            raise InvalidInput(f"this memory is that of agent {self._agent!r}: ask the one it was made of")
        self._calls.demand_open()
        view = self._make_view(agent_in(name))
        view._owner = self  # noqa: SLF001
        self._views.add(view)
        return view

    def _make_view(self, agent: str) -> Self:
        return type(self)(self._opened, self._user, agent=agent)

    @operation("admin", finish=True)
    async def grant(self, agent: str, *, to_see: str) -> tuple[Grant, ...]:
        """Let an agent see what is of agent `to_see`, or of every agent (`"*"`); returns all grants in force.

        It may see, and not change. It does not see what that one was granted. On record; granted again,
        nothing is recorded. For the owner.
        """
        return await self._set_grant(agent, to_see, given=True)

    @operation("admin", finish=True)
    async def revoke(self, agent: str, *, to_see: str) -> tuple[Grant, ...]:
        """Undo `grant` at once; returns all grants in force. Without such a grant nothing is recorded."""
        return await self._set_grant(agent, to_see, given=False)

    async def _set_grant(self, agent: str, to_see: str, *, given: bool) -> tuple[Grant, ...]:
        self._caller.require_owner("grants")
        components, name = self._caller.writable, agent_in(agent)
        other = ALL if to_see == ALL else agent_in(to_see, "to_see")
        await components.writer.grant(name, other, given=given)
        await self._opened.drop_revoked_items()
        return components.ledger.tier1.grants

    @operation("read")
    async def grants(self) -> tuple[Grant, ...]:
        """Which agent may see whose, each with when it was granted; an agent gets its own alone."""
        grants = self._caller.components.ledger.tier1.grants
        return tuple(one for one in grants if self._agent in (None, one.agent))

    @operation("write", finish=True)
    async def share(self, *unit_ids: str, reason: str) -> tuple[SummaryUnit, ...]:
        """Let everybody see units as they read, and give those that are shared now and were not before.

        The words that they rest on stay with whose they are: to others an answer, an audit and a bundle tell
        that they are there, of which page, and who said them. A shared unit is merged with none that is not,
        and no finding is written into it. An agent shares its own. Raises `UnknownId`, and `InvalidInput` for
        the address of a turn.
        """
        return await self._shared(unit_ids, reason, given=True)

    @operation("write", finish=True)
    async def unshare(self, *unit_ids: str, reason: str) -> tuple[SummaryUnit, ...]:
        """Undo `share`, and give the units that were shared; answers that were made of them are not seen any
        more by who may not see them.
        """
        return await self._shared(unit_ids, reason, given=False)

    async def _shared(self, unit_ids: Sequence[str], reason: str, *, given: bool) -> tuple[SummaryUnit, ...]:
        components, why = self._caller.writable, arguments.reason(reason)
        units = [self._caller.own_unit(arguments.unit_to_share(unit_id)) for unit_id in unit_ids]
        async with self._lock.shared():
            changed = await components.writer.share(units, why, given=given)
        await self._opened.drop_revoked_items()
        return changed

    @operation("write", finish=True)
    @spelled_out(Attribution)
    async def add(
        self,
        turns: Says | Iterable[Says],
        *,
        session: str = "main",
        sources: Context | Iterable[Evidence | str] | None = None,
        **said: Unpack[Attribution],
    ) -> Added:
        """Store what was said; durable when this returns.

        Takes a string (with `speaker`), a `Turn`, an OpenAI-style message, or several of them. A turn
        without a time gets `said_at`, or now; one without a role gets `role`, or none. A turn whose `turn_id`
        is known is stored once; one that was erased, and one without words, is not stored, and `Added` says
        so. Known with other words raises `Conflict`; an `ImportedTurn`, which importers give, is stored as a
        later version under another id (`ID~2`), and `flush` supersedes the units of older versions.
        `trust` stamps how far the source is believed, one of `Settings.trust_levels`; only a `Turn` may bring
        a stamp of its own. `sources` are what the turns were made of, a `Context`, what `search` gave, or ids
        of units, pages and answers: the turns are trusted no more than the least trusted words of these.
        `metadata` (plain JSON under text keys) is sealed with each turn and is what
        `where` asks for; a turn or message that has some of its own keeps it. `importance`, from 0 to 1, is
        how much it matters: a unit that rests on the turn is at least as important, and `signals` has it.
        Pages that fill up seal, and so do those of sessions that are idle (`Settings.idle_seal`), this one's
        among them where its last turn was long ago.
        """
        into = arguments.session_to_write(session)
        stored = await store_turns(self._caller, self._background, turns, into, said, sources=sources)
        return stored.added

    @finish_on_close
    @spelled_out(Attribution)
    async def ingest(
        self,
        conversations: Conversation | Iterable[Conversation],
        *,
        progress: Progress | None = None,
        **said: Unpack[Attribution],
    ) -> tuple[tuple[SessionId, Added], ...]:
        """Store what `read_dialogue` read; give each session with what storing it did.

        As `add` of each session, but a chat without an id of its own (WhatsApp, and files with times that
        name no session) goes on with the stored chat with which it shares enough messages, which
        `continue_chats` finds, and a session of a coding agent is stored without the turns that it copied
        from another stored one. Over HTTP such a chat is sent whole, in one request.
        """
        given = arguments.conversations_in(conversations)
        report, done = arguments.progress(progress), 0
        total = sum(one.turns for one in given)
        stored: list[tuple[SessionId, Added]] = []
        for conversation in given:
            sessions = conversation.sessions
            if any(map(is_compared, sessions)):
                sessions = await self.continue_chats(sessions)
            for session in sessions:
                added = await self.add(session.imported_turns(), session=session.session, **said)
                stored.append((session.session, added))
                done += added.turns
                if report is not None:
                    report(done, total)
        return tuple(stored)

    @operation("write")
    async def continue_chats(self, sessions: Iterable[DialogueSession]) -> tuple[DialogueSession, ...]:
        """Return the sessions of a file under the ids of the stored chats that they continue.

        Messages that are stored already have the speaker, time and id under which they are stored. Sessions
        of chats with ids of their own, and of chats that are not stored, come back as they are, but for an id
        that another chat has. Sessions of coding agents come without the turns that they copied from another
        stored session: at least three in a row, with the ids of that one or, of a session that names it as
        its parent, with its words. An agent's file is compared with its own turns. Nothing is stored:
        `ingest` stores what this gives.
        """
        given = arguments.sessions_in(sessions)
        return await continue_chats(self._caller.writable.ledger, given, self._agent)

    @operation("write")
    async def flush(self, session: str | None = None, *, progress: Progress | None = None) -> Flushed:
        """Seal open pages (of one session, or all), summarise what is pending, finish background work.

        Pages that were set aside are tried again.
        """
        components, only, report = (
            self._caller.writable,
            arguments.any_session(session),
            arguments.progress(progress),
        )
        sealed = await self._caller.visible_pages(await components.writer.seal(only))
        await self._jobs.drain()
        return replace(await self._index_pending(report), sealed=sealed)

    @operation("write")
    async def index_pending(self, *, progress: Progress | None = None) -> Flushed:
        """Summarise every sealed page that has no units yet and bring the index up to the ledger.

        Pages that were set aside are tried again.
        """
        _, report = self._caller.writable, arguments.progress(progress)
        await self._jobs.drain()
        return await self._index_pending(report)

    @operation("read")
    @spelled_out(Filters)
    async def ask(
        self,
        question: str,
        *,
        as_of: TimeLike | None = None,
        budget: Budget | Mapping[str, float] | None = None,
        mode: AskMode = "router",
        on_step: Callable[[AskStep], None] | None = None,
        **only: Unpack[Filters],
    ) -> Answer:
        """Return what was said about a question, or with a model an answer that cites the words it rests on.

        Without a model nothing is worded or computed. `Answer.said` are up to three lines, the best first,
        and `support` is `said`. `probability` is that of the first line holding what is asked for. If it is
        too low for the setting `risk`, or not known, `abstained` is true, `support` is `None`, and the lines
        are cited nowhere. `complete` is `None`, and `mode="raw"` is `InvalidInput`.

        With a model `support` says what code checked. `quoted`: every item is literally in one cited
        sentence. `computed`: dates are counted from a cited sentence, the rest is quoted. `worded`: the
        quotes are exact; the wording is its maker's. `unsupported` are its words that no cited turn has, and
        `cautions` what may turn its meaning. None of these says that it is true, also where nothing is
        listed. `complete` and `missing` say what the answer lacks. `abstained` is true when nothing in memory
        answers the question, or when it does so for somebody else; `said` are then the lines that were said
        about it.

        `asked_at` is the moment relative dates of the question are seen from (now). `as_of` asks the
        memory as it stood at that moment. Both may be texts ("2024-01-01T10:00"); of a day without a time
        `asked_at` is the day, and `as_of` its end. `mode` fixes the route of a model: `"summary"` never
        escalates, `"raw"` always does. `budget` may be written `{"calls": 5}`. `min_trust` leaves out what
        rests on anybody trusted less: units, and turns on the pages read.
        `on_step` is called with each step as it is done: found, decided, read, worded. It is called while the
        question waits for it, so it returns soon, and calls no memory; where it raises, nothing is answered,
        and that is `CallbackFailed` with the cause.
        `speaker`, `role`, `said_after`, `said_before` (both count in, a day is the whole day) and `where`
        (what `metadata` must tell: `{"channel": "general"}`; of a list one of its items) leave out turns that
        are not so, and units that rest on any of these. Where few turns are left, more of what
        is found is looked through, up to everything, until there are enough. Names are compared without
        regard to case; what a turn does not tell it is not. A page is found by the words of all its turns
        and seen without the turns left out. A superseded unit stays so, whatever agent superseded it.
        A memory opened read-only answers as well and keeps nothing of it: `Answer.recorded` is `False`,
        `audit` does not find it, and what it cost counts towards the daily limits of this opening alone.
        Raises `InvalidInput`, also for a question of more than 4,000 characters (give the question alone, and
        `add` the text it is about), `ModelError` when the model is down and nothing can be answered,
        `BudgetExceeded` when the space has spent its daily limit, and `ErasedMeanwhile` when another process
        erased words of the space while it was answered.
        """
        components, question = self._caller.components, arguments.question(question)
        scope, moment = await self._caller.scope_and_time(only, as_of=as_of)
        mode, limits, callback = arguments.mode(mode), arguments.budget(budget), arguments.on_step(on_step)
        await self._background.wait_for_index()
        arguments.require_model(components.engine, mode, limits)
        if limits.cost is not None:
            require_prices(components.model)
        components.meter.check()
        async with self._lock.shared():
            since = components.ledger.erasures_by_others
            with self._opened.asking.question(), components.paying(Meter(budget=limits)) as meter:
                async with nullcontext() if components.read_only else components.writer.recording("ask"):
                    outcome = await self._caller.reader.ask(
                        Question(question, moment), mode=mode, scope=scope, on_step=callback
                    )
            answer, findings = self._caller.reader.make_answer(
                outcome, meter=meter, recorded=not components.read_only
            )
            if components.read_only:
                return answer
            await components.writer.record_answer(answer, findings, since=since)
            await components.writer.set_aside(outcome.aside, "ask", since=since)
        if findings:
            await self._background.after_answering()
        return answer

    @operation("read")
    @spelled_out(Filters)
    async def search(
        self,
        query: str,
        *,
        limit: int = 10,
        kind: Kind = "any",
        **only: Unpack[Filters],
    ) -> tuple[Evidence, ...]:
        """The units and turns that fit a query best, or one `kind` (`"units"`, `"turns"`, `"pages"`), with
        the spans they rest on; no model call.

        What contains the query as it is typed, or an identifier of it ("INC-104", "report.pdf"), goes first,
        if it is among the 100 turns or units that hold most of its words. Phrases in quotation marks must be
        in what is found; of a query that ends with "?" they only go first. Of any kind, a unit has the score
        of the best turn it rests on, and one that only repeats a turn which is found is left out. Among
        `"units"`, turns that are not summarised yet represent themselves (`Evidence.source`). `asked_at` is
        the moment its relative dates are seen from (now). `min_trust` and the other filters are those of
        `ask`. Of a query of more than 4,000 characters, such as a pasted log, the end is searched for.
        """
        query, most, kind = arguments.query(query), arguments.limit(limit), arguments.kind(kind)
        scope, moment = await self._caller.scope_and_time(only)
        await self._background.wait_for_index()
        return await self._caller.reader.search(Question(query, moment), limit=most, kind=kind, scope=scope)

    @operation("read")
    @spelled_out(Filters)
    async def recall(
        self,
        topic: str,
        *,
        limit: int = 20,
        kind: Kind = "any",
        strategy: Strategy = "hybrid",
        timeframe: TimeframeLike = None,
        about: About = "said",
        into: Workspace | AsyncWorkspace | None = None,
        **only: Unpack[Filters],
    ) -> Recollection:
        """What memory holds on a topic, best first, also of some time alone; into a workspace, where one is
        given. No model call.

        `strategy` is `"vector"` (meaning), `"fulltext"` (words, BM25) or `"hybrid"` (both, with who spoke and
        when). `timeframe` leaves out what was said at any other time. It is words ("last week", "since
        May 2024", seen from `asked_at`), a day, an ISO month or range ("2024-05", "2024-05-01/2024-05-08"), a
        pair (from the start of one to the end of the other) of which one may be `None`, a list of these, or
        `"auto"`, which takes it out of a topic that names one beyond doubt.
        Days are those on the clock of the speaker, ends count in, and what has no such time is left out
        and counted (`Recollection.undated`). With `about="event"` it is when what a unit says happened.
        Units and turns are found side by side, or one `kind` of what `search` finds, with the
        same filters. Of a topic of more than 4,000 characters the end is searched for. Raises `InvalidInput`.
        """
        topic, most, kind = (
            arguments.query(topic, "topic"),
            arguments.limit(limit),
            arguments.kind(kind),
        )
        strategy, about = arguments.strategy(strategy), arguments.about(about, kind)
        workspace = as_async_workspace(into, self._opened)
        scope, moment = await self._caller.scope_and_time(only)
        topic, times = arguments.timeframe(timeframe, topic, moment, about)
        scope = arguments.confined_to(scope, times, about)
        await self._background.wait_for_index()
        found = await self._caller.reader.recall(
            Question(topic, moment), limit=most, kind=kind, strategy=strategy, scope=scope
        )
        found = replace(found, times=times, about=about)
        return found if workspace is None else await workspace.hold_all(found)

    def workspace(
        self,
        *,
        session: str = "main",
        max_tokens: int = MOST_TOKENS,
        policy: str | Eviction = "hybrid",
        on_evicted: Callable[[tuple[Item, ...]], None] | None = None,
    ) -> AsyncWorkspace:
        """What is held in mind of this memory, at first nothing: at most `max_tokens`, well within a model's
        window (60 to 70 % of it).

        Words that are added to it are stored in `session`. `policy` says who gives way when there is no room:
        `hybrid` (what matters least, of that the oldest), `lru`, `lfu`, `fifo`, `random`, `importance`,
        `access`, `ear`, `balanced`, or an object with `name`, `ages` and `rank`. `on_evicted` is called with
        the items that left for want of room, once they have, in the thread of whoever asked for it. Where it
        raises, so does the call: `CallbackFailed`, with the cause, and with the result of what is done. What
        leaves stays in memory; what is erased leaves. It is kept nowhere and ends with the memory.
        """
        components, into = self._open_components, arguments.session_to_write(session)
        active = ActiveSet(
            arguments.max_tokens(max_tokens),
            arguments.policy(policy),
            clock=components.clock,
        )
        workspace = AsyncWorkspace(
            self,
            caller=self._caller,
            background=self._background,
            calls=self._calls,
            active=active,
            session=into,
            on_evicted=arguments.callback(on_evicted),
        )
        self._opened.watchers.add(workspace)
        return workspace

    @operation("read")
    @spelled_out(Filters)
    async def context(
        self,
        question: str,
        *,
        max_tokens: int = 1000,
        **only: Unpack[Filters],
    ) -> Context:
        """Numbered sources for a prompt of your own, in at most `max_tokens`, fenced as data.

        The question may be a whole message: of more than 4,000 characters the end is searched for.
        `asked_at` is the moment relative dates of the question are seen from (now). `min_trust`
        and the other filters are those of `ask`.
        """
        question, most = arguments.query(question, "question"), arguments.max_tokens(max_tokens)
        scope, moment = await self._caller.scope_and_time(only)
        await self._background.wait_for_index()
        return await self._caller.reader.context(Question(question, moment), max_tokens=most, scope=scope)

    @operation("read")
    async def profile(self, *, max_tokens: int = 1000) -> Context:
        """What is known of people without a question, in at most `max_tokens`, fenced as data.

        It has statements (`remember`) that hold, units that hold and that a model made, what the person said
        to coding agents in rejections, answers and queued prompts, and other turns of people: prompts to
        coding agents, and in other sessions turns of the role `user` or of none. Of each kind the newest are
        there. No model is asked: in a space whose pages no model summarised all of it is as it was said.
        In `text` each item has its kind, time and address, and the first 300 characters of its words;
        `sources` have speakers and words. What was withdrawn, superseded or erased is not there, nor are
        turns that a rewind left. `found` counts the items that were read: of each kind as many as might fit,
        one at least. Raises `Corrupt` where a page that it reads is damaged.
        """
        most = arguments.max_tokens(max_tokens)
        async with self._lock.shared():
            return await read_profile(self._caller, max_tokens=most)

    @operation("read")
    async def audit(self, answer_id: str) -> Audit:
        """The trail from an answer to the characters of the pages it rests on. Raises `UnknownId`."""
        return await self._caller.reader.audit(arguments.answer(answer_id))

    @operation("read")
    async def answers(self) -> tuple[AnswerInfo, ...]:
        """Every answer given, oldest first: id, question, beginning of the answer, time, route.

        An agent gets those of agents that it may see, which were made of what it may see.
        """
        async with self._lock.shared():
            return await self._caller.reader.answers()

    @operation("read")
    async def sessions(self) -> tuple[SessionInfo, ...]:
        """Every session in the order they first spoke, with the newest title of its chat.

        Imports bring titles: names of groups, of conversations and of files. An agent gets those of its own
        imports, of imports without an agent, and of agents that it may see. Whatever reads takes as `session`
        an id or, if it is of one session, the id of a chat, a title, or a title and the day ("Boat
        2024-05-08"); what stores, seals and erases takes an id.
        """
        return await self._caller.sessions()

    @operation("read")
    async def page(self, page_id: str) -> MarkedPage:
        """One page with its words and lines, all of them, and which were taken back and why.

        The address of a turn gives the page that it is on. Raises `UnknownId`.
        """
        return await self._caller.reader.page(arguments.page_or_turn(page_id))

    @operation("read")
    async def pages(self, session: str | None = None) -> Sequence[MarkedPageInfo]:
        """Sealed pages, oldest first, without their words, and where words of them were taken back."""
        return await self._caller.reader.pages(await self._caller.find_session(session))

    @operation("read")
    async def open_pages(self, session: str | None = None) -> tuple[Page, ...]:
        """The pages being filled, with their words."""
        return await self._caller.reader.open_pages(await self._caller.find_session(session))

    @operation("read")
    async def units(
        self, session: str | None = None, *, as_of: TimeLike | None = None
    ) -> tuple[SummaryUnit, ...]:
        """What Tier 1 holds, now or as it stood at a past moment, oldest first."""
        moment, only = arguments.past(as_of), await self._caller.find_session(session)
        return await self._caller.reader.units(only, as_of=moment)

    @operation("read")
    async def get(self, id: str) -> SummaryUnit | MarkedPage | Answer:  # noqa: A002  (the name people use)
        """The unit, page or answer of this id, whichever it is; a unit also when it no longer holds.

        Raises `UnknownId`.
        """
        return await self._caller.get(text_in(id, "id"))

    @operation("write")
    async def apply_findings(self) -> tuple[WriteBack, ...]:
        """Decide on every finding still pending; each decision is recorded, SKIP included.

        Findings a model could not decide on now stay pending and are named by `stats`. Raises `InvalidInput`
        where some are pending and no model is named, which decides on them.
        """
        self._caller.require_owner("apply_findings")
        components = self._caller.writable
        if not components.writer.decides_on_findings and (pending := len(components.ledger.tier1.pending)):
            raise InvalidInput(
                f"a language model decides on findings, none is named, and {pending:,} wait: pass model='…' "
                "when the memory is opened"
            )
        await self._jobs.drain()
        report = await self._background.write_back()
        return report.decisions

    @operation("write")
    async def consolidate(self, *, dry_run: bool = False, progress: Progress | None = None) -> Consolidation:
        """Do now what waits, and merge units that tell the same: one pass, while no question is under way.

        Sessions that are over seal, sealed pages are summarised, findings are decided on; then units of a
        session that tell the same in the same words, of turns that filters do not tell apart, give way to one
        that rests on the words of all. Every merge is recorded with its reason and shown by `trail`;
        `withdraw` of the merged unit brings the others back, and they are not merged again.
        What the daily limits, a model or the index do not allow now is left, and the report says why.
        With `dry_run` nothing is done: the report is of what a pass would begin with. `progress` is called
        with steps done and steps known so far. `Settings.consolidate` has passes run by themselves.
        """
        self._caller.require_owner("consolidate")
        components, callback = self._caller.components, arguments.progress(progress)
        if arguments.switch(dry_run, "dry_run"):
            async with self._lock.shared():
                return await components.consolidator.propose(components.clock())
        _ = self._caller.writable
        await self._jobs.drain()
        with components.paying(Meter()):
            return await components.consolidator.run(
                components.clock(), moment=self._background.idle_window, progress=callback
            )

    @operation("admin")
    async def reindex(self) -> Reindexed:
        """Delete this space from the index and build it again from pages and ledger; no model call."""
        self._caller.require_owner("reindex")
        components = self._caller.writable
        await self._jobs.drain()
        async with self._lock.shared():
            done = await components.writer.projection.rebuild()
        return Reindexed(units=done.units, pages=done.pages)

    @operation("write", finish=True)
    async def checkpoint(self) -> Checkpoint:
        """Commit to everything so far; keep it elsewhere to prove later that nothing was altered.

        The commitment is logged, except where the memory was opened read-only.
        """
        self._caller.require_owner("checkpoint")
        components = self._caller.components
        return await (
            components.ledger.current_checkpoint() if components.read_only else components.ledger.checkpoint()
        )

    @operation("read")
    async def verify(self, checkpoint: Checkpoint | None = None) -> VerifyReport:
        """Re-derive every hash; with a checkpoint kept elsewhere, that it is still a prefix of this log."""
        self._caller.require_owner("verify")
        return await self._caller.components.ledger.verify(arguments.any_checkpoint(checkpoint))

    @operation("read")
    async def bundle(
        self, answer_id: str, *, checkpoint: Checkpoint | None = None, whole_pages: bool = False
    ) -> Bundle:
        """An answer with all it takes to check, far from here, the words it rests on.

        It is a copy: what is erased from this memory later stays in it. `pagestore.bundle.encode` makes it
        one file, `verify_bundle` checks that. Of the pages cited it holds the turns whose words are cited
        (with their metadata), with `whole_pages` all; the answer's record, and so everything in its trace, is
        in it whole. `checkpoint` is one that was kept elsewhere.
        Of a page that may not be seen here it holds salted hashes alone.
        Raises `UnknownId`, `PageNotFound` while a cited page is still filling (`flush` seals it),
        `Corrupt` when this log does not bear out `checkpoint`.
        """
        given, sees = await self._caller.reader.answer(arguments.answer(answer_id)), self._caller.sees
        return await self._caller.components.ledger.bundle(
            given.id,
            checkpoint=arguments.any_checkpoint(checkpoint),
            whole_pages=arguments.switch(whole_pages, "whole_pages"),
            shows=None if sees.all else sees.page,
        )

    @operation("admin")
    async def backup(
        self,
        to: str | Path,
        *,
        all_spaces: bool = False,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> BackedUp:
        """Write one file (a packed tar) of this space's log, or of the whole store's: all of it or nothing.

        It holds everything acknowledged by now, words, summaries, answers and their proofs, also while
        another process writes; the index is left out. `tiermem.restore` makes a store of it. What is erased
        later stays in it. A file that exists is refused, or replaced with `replace`. Raises `PageStoreError`
        for a damaged log or a full disk, `InvalidInput`.
        """
        self._caller.require_owner("backup")
        return await copies.backup(
            self._caller.components,
            arguments.place(to, "to"),
            all_spaces=arguments.switch(all_spaces, "all_spaces"),
            replace=arguments.switch(replace, "replace"),
            progress=arguments.progress(progress),
        )

    @operation("read")
    async def export(
        self,
        to: str | Path | IO[bytes],
        *,
        session: str | None = None,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> Exported:
        """Write the dialogue as JSON lines, one turn each with session, id, time, speaker, role and trust.

        `tiermem ingest` and `read_dialogue` read it back. What was erased is absent; what is erased later
        stays in the file. One that exists is refused, or replaced with `replace`; one in the store itself is
        refused.
        """
        return await copies.export(
            self._caller.components,
            to if hasattr(to, "write") else arguments.place(to, "to"),
            session=await self._caller.find_session(session),
            overwrite=arguments.switch(replace, "replace"),
            progress=arguments.progress(progress),
            sees=self._caller.sees,
        )

    @operation("read")
    async def prove_growth(self, old: Checkpoint, new: Checkpoint | None = None) -> GrowthProof:
        """That the log only grew from `old` to `new` (to now); raises `Corrupt` when it did not."""
        self._caller.require_owner("prove_growth")
        ledger = self._caller.components.ledger
        before, after = arguments.checkpoint(old, "old"), arguments.any_checkpoint(new, "new")
        return await ledger.prove_growth(before, after or await ledger.current_checkpoint())

    @operation("read")
    async def replay(self, answer_id: str, *, rerun: bool = False) -> Replay:
        """A past answer as the ledger keeps it: candidates, scores, route, prompts, checks.

        With `rerun` the question is asked again over the memory as it stood then, and `differences` say
        what comes out otherwise; nothing of it is recorded but its cost. Raises `UnknownId`.
        """
        past = (await self._caller.reader.answer(arguments.answer(answer_id))).id
        if arguments.switch(rerun, "rerun"):
            return await replaying.rerun(self._caller.writable, past, self._caller.sees)
        return await replaying.replay(self._caller.components, past)

    @operation("read")
    async def omissions(self, page: str | None = None, *, session: str | None = None) -> OmissionReport:
        """Numbers, dates, names, negations and rare words that no unit keeps: of one page, a session, or all.

        Pages are read again and compared with their units as they are now; `over_time` is what was
        counted at each distilling. Raises `UnknownId`, `InvalidInput` for a page not summarised yet.
        """
        return await omission_report(
            self._caller.components.ledger,
            page=arguments.any_page(page),
            session=await self._caller.find_session(session),
            sees=self._caller.sees,
        )

    @operation("write")
    async def redistil(self, page_id: str) -> Redistilled:
        """Summarise a page again, with a list of what its units lost. New units that code confirms are added.

        Nothing is removed, and the attempt is recorded. Raises `UnknownId`, `InvalidInput`
        without a model and for a page not summarised yet, `ModelError`.
        """
        components, again = self._caller.writable, arguments.page(page_id)
        page = await self._caller.reader.page(again)
        if not self._caller.sees.owns((page.agent,)):
            raise unknown_page(page.space, again)
        components.meter.check()
        async with self._lock.shared():
            with components.paying(Meter()):
                return await components.writer.redistil(again)

    @operation("write", finish=True)
    async def withdraw(self, unit_id: str, *, reason: str = "", dry_run: bool = False) -> Withdrawn:
        """Take a unit back: it is recalled no more, and what it superseded returns.

        The address of a turn names the unit that rests on it, extracts apart, or all words of the turn where
        there is none; `InvalidInput` where there are several.
        The words that only it rests on stay on their page, are shown as taken back, with the reason, and are
        no evidence: no answer, context or unit is made of them. Words that a unit which holds rests on too
        stay evidence; `Withdrawn.beside` names these. What other words tell of the same stays.
        The record of both stays, and `units(as_of=…)` shows what held when. `reinstate` undoes it. With
        `dry_run` nothing is done, and the report says what would be; it needs no reason. Raises `UnknownId`.
        """
        tried, named = arguments.switch(dry_run, "dry_run"), arguments.unit_or_turn(unit_id)
        components, why = (
            self._caller.components if tried else self._caller.writable,
            arguments.reason_unless(tried, reason),
        )
        unit = await self._unit_named(named, dry_run=tried)
        if tried and components.ledger.tier1.unit(unit.id) is None:
            return Withdrawn(unit=unit, returned=(), proposed=True)
        async with self._lock.shared():
            done = await components.writer.withdraw(self._caller.own_unit(unit.id), why, dry_run=tried)
        return replace(
            done,
            returned=self._caller.visible_units(done.returned),
            beside=self._caller.visible_units(done.beside),
        )

    @operation("write", finish=True)
    async def reinstate(self, unit_id: str, *, reason: str) -> ReinstatedUnit:
        """Undo `withdraw`: the unit holds again, its words are evidence, what it supersedes does not hold.

        The address of a turn names what of it was withdrawn.
        A unit that holds stays as it is, and nothing is recorded. Raises `UnknownId`, and `InvalidInput` for
        one that was not withdrawn and that a newer one supersedes.
        """
        components, named = self._caller.writable, arguments.unit_or_turn(unit_id)
        why = arguments.reason(reason)
        unit = self._caller.own_unit(await self._caller.reader.unit_on_turn(named, withdrawn=True))
        async with self._lock.shared():
            return await components.writer.reinstate(unit, why)

    @operation("write", finish=True)
    @spelled_out(Attribution)
    async def remember(
        self,
        fact: str,
        *,
        session: str = "main",
        sources: Context | Iterable[Evidence | str] | None = None,
        **said: Unpack[Attribution],
    ) -> Remembered:
        """Keep what a person states, word for word, as a unit that holds when this returns; no model call.

        It is a turn of its own, said by `speaker` ("user") in `session`, now or at `said_at`, and trusted as
        its teller, or as `trust` stamps it, and no more than its `sources` (see `add`). Its page seals. Like
        all that was said it can be audited and erased. What the same speaker stated in the same words and
        session and still holds is given as it is (`is_new` is false), unless `said_at`, `metadata` or
        `importance` differ, or it was trusted less. Raises `InvalidInput`, and then stores nothing, for
        what cannot be a unit: a single word, more than 1,000 characters.
        """
        components, into = self._caller.writable, arguments.session_to_write(session)
        stated = read_statement(self._caller, text_in(fact, "fact"), said)
        (turn,) = lower_turns((stated,), await lowest_trust(self._caller, sources), self._caller.levels)
        is_dated = said.get("said_at") is not None
        async with self._lock.shared():
            done = await components.writer.remember(into, turn, is_dated=is_dated)
        return await self._finish_statement(done)

    @operation("write", finish=True)
    @spelled_out(Attribution)
    async def correct(
        self,
        unit_id: str,
        text: str,
        *,
        session: str | None = None,
        **said: Unpack[Attribution],
    ) -> Remembered:
        """`remember` what holds in place of a unit, which is superseded; in the unit's session by default.

        The address of a turn names what it does for `withdraw`. The words that only that unit rests on are
        shown as taken back and are no evidence, as by `withdraw`.
        `trail` shows both; withdrawing the correction brings the old unit back. Raises `UnknownId`, and
        `InvalidInput` where `remember` does, for a unit that no longer holds, and for one that is trusted
        more than its correction.
        """
        components, into = self._caller.writable, arguments.any_session(session)
        named = arguments.unit_or_turn(unit_id)
        turn = read_statement(self._caller, text_in(text, "text"), said)
        unit = self._caller.own_unit((await self._unit_named(named)).id)
        turn = replace(turn, agent=turn.agent or self._correcting_for(unit))
        async with self._lock.shared():
            done = await components.writer.correct(unit, turn, session=into)
        return await self._finish_statement(done)

    async def _unit_named(self, named: UnitId | TurnAddress, *, dry_run: bool = False) -> SummaryUnit:
        """The unit of an id, or of a turn; where it has none, one of its words, recorded but in a dry run."""
        components, caller = self._caller.components, self._caller
        if not is_address(named):
            unit = components.ledger.tier1.unit(caller.own_unit(UnitId(named)))
            assert unit is not None  # noqa: S101  (`own_unit` has found it)
            return unit
        address = TurnAddress(named)
        resting = [unit for unit in await caller.reader.units_of_turn(address) if not unit.is_extract]
        if len(resting) > 1:
            listed = "".join(f"\n  {unit.id}: {unit.text}" for unit in resting)
            raise InvalidInput(f"several units rest on turn {named!r}; name one of them by its id:{listed}")
        if resting:
            return resting[0]
        page = await caller.reader.page(address)
        line = next(line for line in page.lines if line.address == address)
        if line.turn is None:
            raise InvalidInput(f"the words of turn {named!r} were erased")
        if not caller.sees.owns((page.agent,)):
            raise UnknownId(
                f"turn {named!r} may be seen by agent {self._agent!r}, and is not its own: only the agent "
                "whose it is, or the owner of the space, may take it back"
            )
        if dry_run:
            return components.writer.unit_of_words(page, line)
        async with self._lock.shared():
            return await components.writer.record_turn(page.session, line.seq)

    def _correcting_for(self, unit_id: UnitId) -> str | None:
        """Whose a correction is: whose the unit is that it corrects, so that no other gets to see it."""
        unit = self._caller.components.ledger.tier1.unit(unit_id)
        agents = unit.agents if unit is not None else ()
        if len(agents) > 1:
            raise InvalidInput(
                f"unit {unit_id!r} belongs to several agents together, {', '.join(map(repr, agents))}, and a "
                "correction to one: `withdraw` it, and let each `remember` what holds"
            )
        return next(iter(agents), None)

    async def _finish_statement(self, done: tuple[Remembered, tuple[PageId, ...]]) -> Remembered:
        remembered, sealed = done
        await self._background.after_sealing(sealed)
        self._background.index_open_turns()
        return replace(remembered, beside=self._caller.visible_units(remembered.beside))

    @operation("write", finish=True)
    async def feedback(
        self,
        answer: str | Answer | None = None,
        *,
        sources: Context | Iterable[Evidence | str] | None = None,
        outcome: Outcome,
        output: str | None = None,
        by: str = "user",
    ) -> Judged:
        """Record how an answer turned out, `success`, `failure` or `neutral`, and credit the units behind it.

        Name the answer (or its id), or the `sources` that were used without one: a `Context`, what `search`
        gave, ids of units or addresses of turns. Credit goes to what the answer cites, and by what of them
        the `output` says to the units that it was shown; to sources by the `output`, or to all alike where
        none is given. A unit's weight, from -1 to 1, moves by a tenth of its share for a success and back by
        half of that for a failure, and by .3 a day at most. Judged again, an answer's newest outcome counts
        in place of the earlier one. What is superseded, but for a merge, or withdrawn is not moved. A cited
        turn on which no unit rests is credited itself (`Judged.turns`), and units that are made of it inherit
        that. `by` is how far the judge is trusted, `assistant` at least. A weight changes no unit's trust,
        and no ranking reads it unless that is asked for. `signals` has it, `trail` what moved it.
        Raises `UnknownId`, `InvalidInput`.
        """
        components = self._caller.writable
        judged, turned_out = arguments.feedback_target(answer, sources), arguments.outcome(outcome)
        said, judge = arguments.output(output), arguments.judge(by, self._caller.levels)
        of: AnswerId | list[Evidence | UnitId]
        if isinstance(judged, str):
            of = (await self._caller.reader.answer(judged)).id
        else:
            of = [await self._source(one) for one in judged]
        async with self._lock.shared():
            return await components.writer.feedback(
                of, outcome=turned_out, output=said, by=judge, sees=self._caller.sees
            )

    async def _source(self, named: Evidence | UnitId | TurnAddress) -> Evidence | UnitId:
        """What is judged: a turn as evidence, where its address names it."""
        if isinstance(named, Evidence):
            return named
        if not is_address(named):
            return UnitId(named)
        return await self._caller.reader.turn(TurnAddress(named))

    @operation("read")
    async def signals(self, unit_id: str, *, as_of: TimeLike | None = None) -> Signals:
        """What is known of a unit besides what it says, now or at a past moment: importance, uses, weight.

        All of it is made of what is recorded: looking, searching and building contexts leave no trace in it.
        The address of a turn names the unit that rests on it. Raises `UnknownId`, and `InvalidInput` for a
        turn on which no unit rests, or several.
        """
        past, named = arguments.past(as_of), arguments.unit_or_turn(unit_id)
        return await self._caller.reader.signals(await self._caller.reader.unit_on_turn(named), as_of=past)

    @operation("read")
    async def trail(self, unit_id: str) -> tuple[UnitHistory, ...]:
        """A unit with all it supersedes and all that supersedes it, oldest first, each with its words and the
        outcomes that moved its weight. Named and refused as by `signals`.
        """
        named = arguments.unit_or_turn(unit_id)
        return await self._caller.reader.trail(await self._caller.reader.unit_on_turn(named))

    history = trail

    @operation("erase", finish=True)
    async def erase(
        self,
        *,
        turn: str | None = None,
        page: str | None = None,
        session: str | None = None,
        space: bool = False,
        reason: str = "",
        dry_run: bool = False,
    ) -> Receipt:
        """Take a turn, a page, a session or the space out of memory for ever, with all that rests on it.

        A turn is named by its address (`Evidence.turn`, `PageLine.address`), or by the `turn_id` that it was
        stored with, and its session. The id of a chat (`whatsapp:~2aebb91138f6`) names its sessions of all
        days.
        Units that other words do not prove, findings, answers that were shown the words, index entries
        and recorded model calls go, with them what else a step wrote that was shown the words; what was
        superseded by them returns. Bundles, exports, copies and backups made before keep the words:
        the receipt says so, and nothing here can reach them. Checkpoints and proofs of
        before stay valid and say that it was erased. A crash in between is made good at opening.
        With `dry_run` nothing is done: the receipt, `proposed`, lists exactly what would go now, with the
        words of the turns. It needs no reason. Raises `UnknownId`, `InvalidInput` (also when `reason`, which
        stays, repeats the words).
        """
        tried = arguments.switch(dry_run, "dry_run")
        why = arguments.reason_unless(tried, reason)
        if arguments.switch(space, "space"):
            self._caller.require_owner("erase(space=True)")
        selection = Selection(
            turn=arguments.turn(turn, session),
            page=arguments.any_page(page),
            session=arguments.any_session(session),
            space=space,
            agent=self._agent,
        )
        return await self._erase(selection, why, tried=tried)

    async def _erase(self, selection: Selection, reason: str, *, tried: bool) -> Receipt:
        await self._jobs.drain(but=CONSOLIDATING)  # which the lock has wait between two of its steps
        async with self._lock.shared() if tried else self._lock.exclusive():
            return await (plan_erasure if tried else erase)(self._caller, selection, reason)

    @operation("erase", finish=True)
    async def expire(
        self, *, kind: AgentTurnKind, older: str, reason: str = "", dry_run: bool = False
    ) -> Receipt:
        """Erase the turns of one kind that were said long ago, out of all sessions of coding agents.

        `kind` is what a turn is, which its metadata has (`tool_result`, `tool_call`, `reply`, …); `older` is
        an age in hours, days or weeks (`12h`, `30d`, `4w`). It is one erasure, as by `erase`, with one
        receipt; where no turn is that old nothing is done, and the receipt has no turns. Turns without a time
        stay, and so do those of sessions that are not of coding agents. What expired stays away when its
        transcript is read again. Without a `reason`, kind and age are recorded as the reason.
        With `dry_run` nothing is done, as with `erase`. Raises `InvalidInput` for an unknown kind, for what
        is no age, and for a reason that repeats the words.
        """
        tried = arguments.switch(dry_run, "dry_run")
        expiry = Expiry(
            kind=arguments.agent_turn_kind(kind),
            before=arguments.age(older, self._caller.components.clock()),
        )
        why = arguments.reason(reason or f"{kind} older than {older}")
        return await self._erase(Selection(expiry=expiry, agent=self._agent), why, tried=tried)

    @operation("admin")
    async def leftover_scan(self, words: Sequence[str]) -> LeftoverScan:
        """Look through every file or table of the store, without other spaces, for these runs of words."""
        self._caller.require_owner("leftover_scan")
        return await scan_leftovers(self._caller, fingerprints_of(arguments.runs(words)))

    @operation("read")
    async def stats(self) -> Stats:
        """Counts of the space, what waits, and what was left unread."""
        components, sees = self._caller.components, self._caller.sees
        pages = tuple(filter(sees.page, await components.ledger.pages()))
        filling = await self._caller.reader.open_pages()
        sessions = {*(page.session for page in pages), *(page.session for page in filling)}
        clock = await components.ledger.clock_problems()
        async with self._lock.shared():
            answers = await self._caller.reader.answers()
        return stats(
            components.ledger.tier1,
            answers,
            space=components.ledger.space,
            engine=components.engine.name,
            embedder=components.embedder.name,
            sessions=len(sessions),
            sealed=pages,
            filling=filling,
            index_pending=await self._caller.reader.index_pending(),
            usage=components.meter.by_step() if sees.all else (),
            spent_today=components.meter.today() if sees.all else Usage(),
            daily=components.meter.limits,
            problems=(*clock, *self._jobs.problems) if sees.all else (),
            sees=sees,
            reads_pages=components.engine.compose is not None,
        )

    async def close(self) -> None:
        """Finish background work and close log and index; repeating it does nothing.

        Calls under way raise `MemoryClosed`; those that only write what was given are finished first. Other
        memories of this process that are open on the same space go on.
        """
        for view in tuple(self._views):
            await view.close()
        await self._calls.end()
        if self._owner is None:
            await self._release()

    async def _close_early(self) -> None:
        """Close without finishing background work, which stays pending."""
        await self._calls.end()
        self._jobs.cancel_running()
        await self.close()

    async def _release(self) -> None:
        """Close the open parts, unless other memories of this process use them."""
        await self._opened.let_go(self._user)

    @property
    def _open_components(self) -> Components:
        self._calls.demand_open()
        return self._caller.components

    async def _catch_up(self) -> None:
        await self._background.catch_up()

    async def _index_pending(self, progress: Progress | None) -> Flushed:
        components = self._caller.components
        async with self._lock.shared():
            with components.paying(Meter()):
                report = await components.writer.distil_pending(
                    progress, again=self._agent is None, only=await self._caller.own_pages()
                )
        return Flushed(
            sealed=(),
            distilled=report.distilled,
            units=report.units,
            rejected=report.rejected,
            pending=report.pending + report.elsewhere,
            problems=(*map(str, self._undone(report)), *_note_elsewhere(report)),
        )

    def _undone(self, report: DistilReport) -> tuple[UnfinishedWork | SetAside, ...]:
        """What a run left undone, as far as it is this agent's: what the index lacks is the owner's."""
        if self._agent is None:
            return (*report.unfinished, *report.aside)
        own = (one for one in report.unfinished if one.stage == "distil")
        return (*own, *(one for one in report.aside if one.step == "distil"))


_M = TypeVar("_M", bound=AsyncMemory)


async def open_shared_memory(kind: type[_M], opening: Opening) -> _M:
    """A memory opened so, over the parts of one that is open already; see `AsyncMemory.open`."""
    user = object()

    async def make(opened: SharedComponents) -> None:
        opened.components = await build(opening)
        await Background(opened).resume()

    def differs(components: Components) -> str | None:
        return opening_difference(components, opening)

    opened = await acquire_components(opening.shared_as, user, make=make, differs=differs)
    memory = kind(opened, user)
    finalize(memory, opened.users.discard, user).atexit = False
    return memory


def _note_elsewhere(report: DistilReport) -> tuple[str, ...]:
    """What a flush says of pages that it left to another process."""
    if not report.elsewhere:
        return ()
    return (f"{report.elsewhere} pages stay pending here: another process is summarising them",)
