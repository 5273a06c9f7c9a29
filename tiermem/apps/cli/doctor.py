"""`tiermem doctor`: looks at what a memory needs on this machine, and says of what is missing how to get it.

It changes nothing and downloads nothing. The endpoint of a model is asked for its list of models, which
costs nothing, and only where a model is named.
"""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import typer
from rich.text import Text

import tiermem
from pagestore.errors import NotAStore, PageStoreError
from tiermem.apps.cli import options
from tiermem.apps.cli.group import EXIT_ERROR
from tiermem.apps.present.tables import plural
from tiermem.errors import EmbedderUnavailable, IndexUnavailable, InvalidInput, TierMemError
from tiermem.storage import StorePlace

Verdict = Literal["good", "missing", "absent"]
"""Fine; needed and not there; not there and not needed."""

_LITTLE = 200 << 20
"""Bytes of free space below which a store may soon be full."""
_SECONDS = 5.0
"""Seconds that a model has to answer when it is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedItem:
    """One thing that was looked at: its state, and what to do where it is missing."""

    what: str
    verdict: Verdict
    state: str
    advice: str = ""


def doctor(*, store: options.Store = options.DEFAULT_STORE, output: options.Output) -> None:
    """Look at what memory needs: weights, model, index, store, room (exit code 1: some is missing)."""
    findings = _examine(store)
    ok = all(finding.verdict != "missing" for finding in findings)
    output.show({"ok": ok, "findings": findings}, lambda: Text("\n").join(_lines(findings)))
    if not ok:
        raise typer.Exit(EXIT_ERROR)


def _examine(store: StorePlace) -> tuple[ExaminedItem, ...]:
    """Everything that is looked at, in the order in which it is needed."""
    try:
        settings = tiermem.Settings()
    except InvalidInput as error:
        state = str(error).removeprefix("these settings cannot be used: ")
        return (_missing("settings", state, "correct the TIERMEM_… variables of the environment"),)
    rooms = () if store.directory is None else (_room(store.directory),)
    found = (
        _versions(),
        _weights(settings),
        _language(settings),
        _model(settings),
        _index(settings, store),
        _store(store),
    )
    return (*found, *rooms)


def _missing(what: str, why: object, advice: str) -> ExaminedItem:
    return ExaminedItem(what=what, verdict="missing", state=str(why), advice=advice)


def _versions() -> ExaminedItem:
    found = []
    for name in ("pydantic", "openai", "qdrant-client", "tokenizers", "onnxruntime"):
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    python = f"Python {platform.python_version()} on {platform.system()}"
    state = f"tiermem {version('tiermem')}, {python}; {', '.join(found)}"
    return ExaminedItem(what="versions", verdict="good", state=state)


def _weights(settings: tiermem.Settings) -> ExaminedItem:
    from tiermem.embedding.weights import WAYS_OUT, check_installed, find_weights

    if not settings.embedder.startswith("minilm"):
        return ExaminedItem(what="weights", verdict="absent", state=f"not needed: {settings.embedder} embeds")
    try:
        check_installed()
    except EmbedderUnavailable as error:
        return _missing("weights", error, "until then what was said is found by its words alone")
    try:
        found = find_weights(settings.weights) if settings.weights is not None else _local_weights()
    except EmbedderUnavailable as error:
        return _missing("weights", error, WAYS_OUT)
    if found is None:
        state = "all-MiniLM-L6-v2 is not on this machine; it is downloaded when a memory is first opened"
        return _missing("weights", state, WAYS_OUT)
    return ExaminedItem(what="weights", verdict="good", state=f"all-MiniLM-L6-v2 in {found}")


def _local_weights() -> Path | None:
    from tiermem.embedding.weights import from_hugging_face, from_package

    return from_package() or from_hugging_face(download=False)


def _language(settings: tiermem.Settings) -> ExaminedItem:
    """What works in which language without a model."""
    has_reader = settings.embedder.startswith("minilm") and settings.reader != "none"
    likely = "their probability is fitted on English" if has_reader else "without a probability"
    state = f"without a model lines of any language are found and displayed; {likely}"
    return ExaminedItem(what="language", verdict="good", state=state)


def _model(settings: tiermem.Settings) -> ExaminedItem:
    import anyio

    from tiermem.llm.redaction import shown_url

    if settings.model is None:
        state = "none named: `ask` displays what was said about a question, and words no answer"
        return ExaminedItem(
            what="model", verdict="absent", state=state, advice="set TIERMEM_MODEL to use one"
        )
    where, began = shown_url(settings.base_url) if settings.base_url else "OpenAI", time.monotonic()
    try:
        served = anyio.run(_served_models, settings, settings.model)
    except TierMemError as error:
        advice = "see that the endpoint is up, and that TIERMEM_BASE_URL and TIERMEM_API_KEY are right"
        return _missing("model", error, advice)
    took = f"{time.monotonic() - began:.1f} s"
    if served and not {settings.model, f"{settings.model}:latest"} & served:
        state = f"{where} answers in {took} and does not list {settings.model!r}"
        return _missing("model", state, "name one with TIERMEM_MODEL")
    return ExaminedItem(what="model", verdict="good", state=f"{settings.model} at {where}, answers in {took}")


async def _served_models(settings: tiermem.Settings, name: str) -> frozenset[str]:
    from tiermem.llm.endpoint import ModelOptions
    from tiermem.llm.openai import OpenAIModel

    key = settings.api_key.get_secret_value() if settings.api_key else None
    model = OpenAIModel(
        name, base_url=settings.base_url, api_key=key, options=ModelOptions(timeout=_SECONDS, attempts=1)
    )
    try:
        return await model.list_models()
    finally:
        await model.close()


def _index(settings: tiermem.Settings, store: StorePlace) -> ExaminedItem:
    from tiermem.llm.redaction import shown_url
    from tiermem.settings import EMBEDDED, IN_PROCESS, IN_STORE

    if settings.index == IN_STORE:
        return _index_in_store(store.url)
    if not settings.index.startswith(("http://", "https://")):
        kept = "in the folder of the pages" if store.url is None else "in the database of the store"
        places = {EMBEDDED: kept, IN_PROCESS: "in this process alone"}
        where = places.get(settings.index, "brought by another package")
        if settings.index.startswith("postgres"):
            where = "asked when a memory opens"
        return ExaminedItem(what="index", verdict="good", state=f"{shown_url(settings.index)}: {where}")
    key = settings.index_api_key.get_secret_value() if settings.index_api_key else None
    try:
        from tiermem.index.qdrant import check_server  # only with the client

        check_server(settings.index, api_key=key)
    except IndexUnavailable as error:
        return _missing("index", error, "start the server, or set TIERMEM_INDEX=embedded")
    return ExaminedItem(what="index", verdict="good", state=f"a Qdrant server at {shown_url(settings.index)}")


def _index_in_store(url: str | None) -> ExaminedItem:
    try:
        from tiermem.index.postgres import find_pgvector  # only with psycopg

        found = find_pgvector(url)
    except NotAStore:
        return ExaminedItem(what="index", verdict="absent", state="made in the database with the store")
    except TierMemError as error:
        return _missing("index", error, "install pgvector on the server, or leave TIERMEM_INDEX out")
    return ExaminedItem(what="index", verdict="good", state=f"in the database of the store, {found}")


def _store(store: StorePlace) -> ExaminedItem:
    try:
        spaces = tiermem.spaces(store.address)
    except NotAStore:
        advice = "`tiermem ingest FILE` makes one; --store names another"
        return ExaminedItem(what="store", verdict="absent", state=f"none at {store} yet", advice=advice)
    except (PageStoreError, InvalidInput) as error:
        advice = "`tiermem verify` says more" if store.directory is not None else "correct the URL of --store"
        return _missing("store", error, advice)
    return ExaminedItem(what="store", verdict="good", state=f"{store}, {plural(len(spaces), 'space')}")


def _room(store: Path) -> ExaminedItem:
    there = next(folder for folder in (store.absolute(), *store.absolute().parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    state = f"{free / (1 << 30):,.1f} GiB free at {there}"
    if free < _LITTLE:
        return _missing("room", state, "make room: the index needs it first")
    return ExaminedItem(what="room", verdict="good", state=state)


_SIGNS: dict[Verdict, tuple[str, str]] = {
    "good": ("✓", "green"),
    "missing": ("✗", "red"),
    "absent": ("–", "dim"),
}


def _lines(findings: tuple[ExaminedItem, ...]) -> Iterator[Text]:
    for finding in findings:
        sign, style = _SIGNS[finding.verdict]
        yield Text.assemble((f"{sign} ", style), (f"{finding.what:9}", "bold"), finding.state)
        if finding.advice:
            yield Text(f"             {finding.advice}", style="dim")
