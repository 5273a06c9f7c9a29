"""Putting a memory together: which log, which index, which engine, decided once when it is opened."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial

from anyio import to_thread

from pagestore import LogOptions, MemoryLog, PageLog, SpaceId
from tiermem.collector import pause_collector
from tiermem.embedding import EMBEDDERS, Checks, Embedder, EmbedderRequest, EmbedTexts
from tiermem.errors import (
    EmbedderUnavailable,
    InvalidInput,
    UnknownId,
)
from tiermem.index import INDEXES, AbsentIndex, Index, IndexRequest
from tiermem.ledger import Ledger, indexed_as
from tiermem.llm import LanguageModel, ModelOptions, OpenAIModel
from tiermem.llm.meter import require_prices
from tiermem.llm.redaction import shown_url
from tiermem.llm.tokens import token_counter
from tiermem.model import Budget
from tiermem.reading import Reader, ReadingOptions, Reranker
from tiermem.reading.rerank import PROTECTED, RERANKERS, RerankerRequest
from tiermem.reasoning import Engine, engine_named, with_router
from tiermem.reasoning.learned.ordering import with_reader
from tiermem.runtime.components import Components, EngineName, Opening, Parts
from tiermem.runtime.daily import DailyMeter
from tiermem.settings import EMBEDDED, IN_PROCESS, Settings
from tiermem.storage import SpaceStore, StorePlace, open_store
from tiermem.trust import TrustLevels
from tiermem.writing import Consolidator, Writer, WriterOptions


async def build(opening: Opening) -> Components:
    """Open log, index and engine; whatever was opened is closed again when a later part fails."""
    settings, parts, read_only = opening.settings, opening.parts, opening.read_only
    async with AsyncExitStack() as stack:
        counter = token_counter()
        options = LogOptions(page_tokens=settings.page_tokens, counter=counter)
        store = None if opening.is_in_memory else await to_thread.run_sync(_store, opening, options)
        if store is not None:
            stack.push_async_callback(to_thread.run_sync, store.close)
        with pause_collector():
            log = await to_thread.run_sync(_log, opening, store, options)
            stack.push_async_callback(to_thread.run_sync, log.close)
            ledger = await Ledger.open(log, read_only=read_only)
        model = parts.model or _model(settings, opening.engine)
        if model is not None:
            stack.push_async_callback(model.close)
        embedder, lacking = parts.embedder, ""
        if embedder is None:
            embedder, lacking = await _embedder(settings, model, stack, read_only=read_only)
        judging = _engine(settings, opening.engine, model, embedder=embedder.name)
        meter = _daily_meter(settings, ledger, judging, model)
        if lacking and parts.index is None:
            index: Index = AbsentIndex(lacking, holds_nothing=_has_no_files(opening.place, settings))
        else:
            index = parts.index or await _index(
                opening.place,
                settings,
                embedder,
                stack,
                read_only=read_only,
                anew=await to_thread.run_sync(_spaces_indexed, store, ledger) if opening.reindex else None,
            )
        reranker = parts.reranker or await _reranker(settings, stack)
        how = _writing(settings, embedder)
        writer = Writer(ledger, index, judging, how)
        return Components(
            opening=opening,
            store=store,
            ledger=ledger,
            index=index,
            embedder=embedder,
            engine=judging,
            writer=writer,
            consolidator=Consolidator(writer, ledger, index, how),
            reader=Reader(ledger, index, judging, counter, _reading(settings, embedder), reranker=reranker),
            closing=stack.pop_all(),
            model=model,
            meter=meter,
            scratch=partial(_scratch, embedder),
        )


def opening_difference(components: Components, asked: Opening) -> str | None:
    """What differs between how a memory was opened and how it is to be opened now; `None` where nothing."""
    there = components.opening
    if asked.reindex:
        return "its index is in use and cannot be built again at opening (`memory.reindex()` does it)"
    if asked.reasons != there.reasons:
        return "engine is another one there"
    for name in Settings.model_fields:
        values = getattr(there.settings, name), getattr(asked.settings, name)
        if values[0] != values[1]:
            url = name in ("base_url", "index")
            shown = (shown_url(one) if one and url else one for one in values)
            return f"{name} is {{!r}} there and {{!r}} here".format(*shown)
    for name in ("model", "index", "reranker"):
        if getattr(asked.parts, name) != getattr(there.parts, name):
            return f"{name} is another object there"
    if _embeds(asked.parts) != _embeds(there.parts):
        return "embedder is another one there"
    return None


def _scratch(embedder: Embedder) -> Index:
    """An index for one look back, forgotten with it."""
    from tiermem.index.row_index import RowIndex  # which is made of numpy

    return RowIndex(embedder)


def _embeds(parts: Parts) -> tuple[type, str] | None:
    """What tells embedders apart: two of one kind and name embed alike."""
    return None if parts.embedder is None else (type(parts.embedder), parts.embedder.name)


def _daily_meter(
    settings: Settings, ledger: Ledger, engine: Engine, model: LanguageModel | None
) -> DailyMeter:
    """The limits of the day, and what the ledger says was spent today. Local rules cost nothing."""
    if settings.daily_cost is not None and not engine.free:
        require_prices(model)
    limits = Budget(calls=settings.daily_calls, tokens=settings.daily_tokens, cost=settings.daily_cost)
    today = datetime.now(UTC).date()
    return DailyMeter(
        limits=Budget() if engine.free else limits,
        spent=ledger.tier1.spent_on(today),
        has_unknown_cost=ledger.tier1.has_unknown_cost_on(today),
        day=today,
        space=ledger.space,
    )


def _store(opening: Opening, options: LogOptions) -> SpaceStore:
    """The store of a memory that does not end with the process."""
    return open_store(opening.place, read_only=opening.read_only, create=opening.create, options=options)


def _log(opening: Opening, store: SpaceStore | None, options: LogOptions) -> PageLog:
    if store is None:
        return MemoryLog(opening.space, options=options)
    if (opening.read_only or not opening.create) and not store.has_space(opening.space):
        known = ", ".join(map(repr, store.spaces())) or "none yet"
        raise UnknownId(f"no space {opening.space!r} in {opening.place.shown!r}; there are: {known}")
    return store.open_space(opening.space)


def _engine(
    settings: Settings, engine: EngineName | Engine, model: LanguageModel | None, *, embedder: str
) -> Engine:
    """The engine that was asked for, with the router of the settings; one that was given keeps its own."""
    made = engine if isinstance(engine, Engine) else engine_named(engine, model)
    if made.free and not isinstance(engine, Engine):
        made = with_reader(
            made,
            settings.reader,
            risk=settings.risk,
            embedder=embedder,
            weights=settings.weights,
        )
    if made.compose is None:
        if settings.router is not None:
            raise InvalidInput(
                f"router={settings.router!r} decides when a language model reads more, and none is named: "
                "pass model='…', or leave router out"
            )
        return made
    if settings.router is not None:
        made = with_router(made, settings.router)
    elif not isinstance(engine, Engine):
        made = with_router(made, "fused")
    return made


def _model(settings: Settings, engine: EngineName | Engine) -> LanguageModel | None:
    if settings.model is None or engine == "local" or isinstance(engine, Engine):
        if engine == "model":
            raise InvalidInput(
                "engine='model' needs a model: pass model='…' (and base_url for vLLM or Ollama), "
                "or set TIERMEM_MODEL"
            )
        return None
    return _endpoint(settings, settings.model)


def _endpoint(settings: Settings, model: str) -> OpenAIModel:
    return OpenAIModel(
        model,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        roles=settings.role_models,
        prices=settings.prices,
        embedding=settings.embedder.partition(":")[2] or "text-embedding-3-small",
        options=ModelOptions(
            timeout=settings.model_timeout,
            deadline=settings.model_deadline or None,
            reply_mb=settings.model_reply_mb,
            concurrency=settings.model_concurrency,
        ),
    )


async def _embedder(
    settings: Settings, model: LanguageModel | None, stack: AsyncExitStack, *, read_only: bool
) -> tuple[Embedder, str]:
    """The embedder, and why it cannot embed where its weights are nowhere: words alone find then.

    Raises `EmbedderUnavailable` where the directory that was named for the weights does not hold them.
    """

    def by_endpoint() -> EmbedTexts:
        named = settings.model or settings.embedder.partition(":")[2]
        endpoint = model if isinstance(model, OpenAIModel) else _endpoint(settings, named)
        if endpoint is not model:
            stack.push_async_callback(endpoint.close)
        return endpoint.embed

    request = EmbedderRequest(
        name=settings.embedder, endpoint=by_endpoint, weights=settings.weights, closing=stack
    )
    opened = await to_thread.run_sync(EMBEDDERS.load, settings.embedder)
    embedder = await opened(request)
    if read_only or not isinstance(embedder, Checks):
        return embedder, ""  # it loads when something is searched by meaning
    try:
        await to_thread.run_sync(embedder.check)
    except EmbedderUnavailable as error:
        if settings.weights is not None:
            raise
        return embedder, f"what was said is found by its words alone, not by meaning: {error}"
    return embedder, ""


async def _index(
    place: StorePlace,
    settings: Settings,
    embedder: Embedder,
    stack: AsyncExitStack,
    *,
    read_only: bool,
    anew: tuple[SpaceId, ...] | None,
) -> Index:
    opened = await to_thread.run_sync(INDEXES.load, settings.index)
    request = IndexRequest(
        name=settings.index,
        embedder=embedder,
        folder=None if place.directory is None else place.directory / "index",
        database=place.url,
        closing=stack,
        api_key=settings.index_api_key.get_secret_value() if settings.index_api_key else None,
        read_only=read_only,
        anew=anew,
    )
    return await opened(request)


async def _reranker(settings: Settings, stack: AsyncExitStack) -> Reranker | None:
    if settings.reranker is None:
        return None
    opened = await to_thread.run_sync(RERANKERS.load, settings.reranker)
    request = RerankerRequest(
        name=settings.reranker, closing=stack, weights=settings.weights, reader=settings.reader
    )
    return await opened(request)


def _has_no_files(place: StorePlace, settings: Settings) -> bool:
    """Whether no index lies in a file, in a database or on a server that the settings name."""
    folder = place.directory
    if settings.index == IN_PROCESS or (folder is None and place.url is None):
        return True
    return settings.index == EMBEDDED and folder is not None and not (folder / "index").exists()


def _spaces_indexed(store: SpaceStore | None, ledger: Ledger) -> tuple[SpaceId, ...]:
    """The names that every space of the store has in an index."""
    if store is None:
        return (ledger.indexed_as,)
    known = ((space, store.identity(space)) for space in store.spaces())
    return tuple(indexed_as(space, identity) for space, identity in known if identity is not None)


def _reading(settings: Settings, embedder: Embedder) -> ReadingOptions:
    usual = ReadingOptions().protected_similarity
    return ReadingOptions(
        protected_similarity=PROTECTED.get(embedder.name, usual),
        units=settings.recall_units,
        max_rounds=settings.research_rounds,
        pages_per_round=settings.research_pages,
        links=settings.links,
        recall_turns=settings.recall_turns,
        recall_tokens=settings.recall_tokens,
        unproved=settings.unproved,
        unsearched_roles=settings.unsearched_roles,
        trust=TrustLevels(names=settings.trust_levels),
    )


def _writing(settings: Settings, embedder: Embedder) -> WriterOptions:
    return WriterOptions(
        variant=settings.write_back_variant,
        trust=TrustLevels(names=settings.trust_levels),
        write_back_trust=settings.write_back_trust,
        concurrency=settings.distil_concurrency,
        page_tokens=settings.page_tokens,
        idle_seal=settings.idle_seal,
        unsearched_roles=settings.unsearched_roles,
        embedder=embedder.name,
    )
