"""From what a command was given to a run: dataset, engine, judge, systems, manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from eval.auditing import Audited, audit
from eval.datasets import (
    Beam,
    Choice,
    Chosen,
    Languages,
    LoCoMo,
    LongMemEval,
    Newcomer,
    Piled,
    RealTalk,
    Renamed,
    Statements,
    Written,
)
from eval.datasets.renamed import renaming
from eval.embeddings import CachedEmbedder, cache_directory
from eval.folder import Kind, Manifest, RunFolder, commit, machine
from eval.judge import STYLES, ByWords, Judge, Style
from eval.judge import ByModel as ModelJudge
from eval.progress import watching
from eval.recorded import read_facts, recorded, renamed_claim
from eval.runner import RunPlan, qa, replay, retrieval
from eval.systems import Setup, candidates, mem0
from eval.systems.registry import RETRIEVERS, TIERMEM, Variant
from eval.types import CaseId, Dataset, DatasetName, EngineName
from tiermem import Settings
from tiermem.embedding.minilm import MiniLMEmbedder, Precision
from tiermem.errors import InvalidInput
from tiermem.llm import OpenAIModel, load
from tiermem.llm.endpoint import ModelOptions, Price
from tiermem.llm.interface import LanguageModel
from tiermem.llm.recording import RecordingModel
from tiermem.llm.tokens import token_counter
from tiermem.reasoning import Engine, by_model, engine_named
from tiermem.reasoning.learned.factors import SHIPPED
from tiermem.reasoning.learned.ordering import with_reader

CALLS: Final = "calls.jsonl"
"""The file of a run that has every call of a model, with its reply, under the hash of the call."""
_PROMPTS: Final = ("distil", "route", "integrate", "plan", "compose", "select", "reconcile")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to measure, as a command line says it."""

    kind: Kind
    dataset: DatasetName
    data: Path
    systems: tuple[str, ...]
    out: Path
    resume: bool = False
    choice: Choice = field(default_factory=Choice)
    rename: bool = False
    pile: int | None = None
    """How many sessions of all conversations are put into one memory; 0 for all, `None` for none."""
    epochs: int = 1
    engine: EngineName = "local"
    facts: Path | None = None
    units: Literal["extract"] | None = None
    judge: str | None = None
    judge_styles: tuple[Style, ...] = ()
    prices: Path | None = None
    concurrency: int | None = None
    precision: Precision = "fp32"
    threads: int = 2
    cache: Path | None = None
    keep: bool = False
    profile: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=lambda: TIERMEM)
    adapt: Callable[[Engine], Engine] | None = None
    """What makes the engine of TierMem's memories from the one that was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """What another command line adds: variants of TierMem, and what changes a request before it is run."""

    variants: Mapping[str, Variant] = field(default_factory=lambda: TIERMEM)
    change: Callable[[Request], Request] = lambda request: request


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    """Who judges, by case; the model behind, to be named and closed; which reader orders lines, if any."""

    name: str
    of: Callable[[CaseId], Engine]
    model: LanguageModel | None = None
    reader: str = ""


async def audited(
    folder: RunFolder,
    *,
    rerun: int | None,
    threads: int = 2,
    cache: Path | None = None,
    variants: Mapping[str, Variant] = TIERMEM,
) -> Audited:
    """Every answer of a kept run looked up, and asked again without a model; see `eval.auditing`."""
    if rerun != 0 and folder.manifest.models:
        raise InvalidInput(f"{folder.manifest.engine!r} would be asked, and paid, again: add --rerun 0")
    _check_same_reader(folder.manifest, rerun)
    with kept_setup(folder, threads, cache) as setup, watching() as watcher:
        return await audit(folder, replace(setup, variants=variants), watcher, rerun=rerun)


def _check_same_reader(kept: Manifest, rerun: int | None) -> None:
    if rerun == 0 or kept.models or kept.kind == "retrieval":
        return
    now = _reader(_settings_of(kept), kept.embedder)
    if now != kept.reader:
        raise InvalidInput(
            f"lines were ordered by another reader, or at another risk ({kept.reader}; it would be {now}): "
            "set TIERMEM_READER and TIERMEM_RISK to what they were, or add --rerun 0"
        )


@contextmanager
def kept_setup(folder: RunFolder, threads: int, cache: Path | None) -> Iterator[Setup]:
    """Set up what opens the memories of a kept run again."""
    kept, settings = folder.manifest, _settings_of(folder.manifest)
    engine = _engine_of(kept, settings)
    int8 = MiniLMEmbedder(precision="int8")
    precision: Precision = "int8" if kept.embedder == int8.name else "fp32"
    with opened_embedder(precision, threads, cache) as cached:
        yield Setup(embedder=cached, engine=lambda _: engine, counter=token_counter(), settings=settings)


def _engine_of(kept: Manifest, settings: Mapping[str, Any]) -> Engine:
    """What answers where a kept run is asked again."""
    local = _local(settings, kept.embedder)
    # Facts are recorded for distilling, and nothing is distilled again.
    return local if kept.engine == local.name else recorded({}, local)


def _settings_of(kept: Manifest) -> dict[str, Any]:
    return {name: given for name, given in kept.settings.items() if name != "mem0"}


@contextmanager
def opened_embedder(precision: Precision, threads: int, cache: Path | None) -> Iterator[CachedEmbedder]:
    """MiniLM on this machine, with the vectors of earlier runs; closed when the block ends."""
    minilm = MiniLMEmbedder(precision=precision, threads=threads)
    embedder = CachedEmbedder(minilm, cache_directory(cache) / "vectors.sqlite")
    try:
        yield embedder
    finally:
        embedder.close()


async def run(request: Request) -> RunFolder:
    """Do what is asked, or go on with it; the folder holds the results."""
    dataset = dataset_of(request)
    engine = engines_of(request)
    _check_words(request, engine)
    judge, judging = _judge(request)
    try:
        with opened_embedder(request.precision, request.threads, request.cache) as embedder:
            setup = Setup(
                embedder=embedder,
                engine=engine.of,
                counter=token_counter(),
                settings=request.settings,
                variants=request.variants,
                adapt=request.adapt,
            )
            taking_part = candidates(request.systems, setup)
            manifest = _manifest(request, dataset, engine, judge)
            folder = (RunFolder.resume if request.resume else RunFolder.create)(request.out, manifest)
            with watching() as watcher:
                plan = RunPlan(
                    dataset=dataset,
                    candidates=taking_part,
                    folder=folder,
                    counter=setup.counter,
                    observer=watcher,
                    concurrency=manifest.concurrency,
                    keep=request.keep,
                )
                match request.kind:
                    case "retrieval":
                        await retrieval(plan)
                    case "qa":
                        await qa(plan, judge)
                    case "replay":
                        await replay(plan, judge, epochs=request.epochs)
    finally:
        for model in (engine.model, judging):
            if model is not None:
                await model.close()
    return folder


def _check_words(request: Request, engine: Engines) -> None:
    """Refuse systems whose answers are worded where there is no model to word them."""
    if request.kind != "qa" or engine.model is not None:
        return
    worded = [
        name
        for name in request.systems
        if name in RETRIEVERS or (name in request.variants and request.variants[name].is_worded)
    ]
    if worded:
        raise InvalidInput(
            f"{', '.join(map(repr, worded))} need a model that words the answers: add --engine model, or "
            "leave them out of --systems; the memories of TierMem give lines without a model"
        )


_DATASETS: dict[str, Callable[[Path], Dataset]] = {
    one.name: one for one in (LoCoMo, LongMemEval, RealTalk, Beam, Languages, Newcomer, Statements, Written)
}


def dataset_of(request: Request) -> Dataset:
    """The questions to ask, with their conversations. A sample is the same with and without new names."""
    whole = _DATASETS[request.dataset](request.data)
    if request.rename:
        whole = Renamed(whole, seed=request.choice.seed)
    if request.pile is not None:
        whole = Piled(whole, sessions=request.pile or None, seed=request.choice.seed)
    return Chosen(whole, _with_facts(request))


def _with_facts(request: Request) -> Choice:
    """The choice, within the conversations that have recorded facts where those are asked for."""
    if request.facts is None and request.engine != "recorded":
        return request.choice
    there = sorted(file.stem for file in _facts_directory(request).glob("*.jsonl"))
    wanted = request.choice.conversations or tuple(there)
    missing = [name for name in wanted if name not in there]
    if missing:
        raise InvalidInput(
            f"no recorded facts for {', '.join(map(repr, missing))}; there are: {', '.join(there)}"
        )
    return replace(request.choice, conversations=wanted)


def _facts_directory(request: Request) -> Path:
    facts = request.facts
    if facts is None:
        raise InvalidInput("--engine recorded needs --facts: the directory with one .jsonl a conversation")
    if not facts.is_dir():
        problem = "is no directory" if facts.exists() else "does not exist"
        raise InvalidInput(f"--facts {str(facts)!r} {problem}; name one with one .jsonl a conversation")
    if not any(facts.glob("*.jsonl")):
        raise InvalidInput(f"--facts {str(facts)!r} holds no recorded facts: no .jsonl of a conversation")
    return facts


def _local(settings: Mapping[str, Any], embedder: str) -> Engine:
    """What a memory opened with these settings has without a model: lines, ordered by the reader if any."""
    chosen = Settings(**settings)
    local = engine_named("local")
    return with_reader(local, chosen.reader, risk=chosen.risk, embedder=embedder, weights=chosen.weights)


def _reader(settings: Mapping[str, Any], embedder: str) -> str:
    """Which reader orders lines at which risk in such a memory, for those who compare runs; "" without."""
    if _local(settings, embedder).point is None:
        return ""
    chosen = Settings(**settings)
    file = SHIPPED if chosen.reader == "auto" else Path(chosen.reader).expanduser()
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()} at risk {chosen.risk:g}"


def engines_of(request: Request) -> Engines:
    """Return the engine that reasons, by case."""
    local, reader = engine_named("local"), ""
    if request.kind != "retrieval" and request.engine != "model":  # ranking turns asks no question
        embedder = MiniLMEmbedder(precision=request.precision).name
        local, reader = _local(request.settings, embedder), _reader(request.settings, embedder)
    match request.engine:
        case "local":
            return Engines(name=local.name, of=lambda _: local, reader=reader)
        case "model":
            model = _model(request, Settings().model, "the engine 'model' needs TIERMEM_MODEL")
            engine = replace(by_model(model), distil=None) if request.units else by_model(model)
            if request.facts is not None:
                return replace(_recorded_engines(request, engine), model=model)
            return Engines(name=engine.name, of=lambda _: engine, model=model)
        case "recorded":
            return replace(_recorded_engines(request, local), reader=reader)


def _recorded_engines(request: Request, others: Engine) -> Engines:
    """Facts by case, under the names that the conversation goes under; everything else by `others`."""
    if request.dataset != "locomo":
        raise InvalidInput("recorded facts are there for LoCoMo only")
    locomo, facts = LoCoMo(request.data), _facts_directory(request)
    cases = {case.id: case for case in locomo.cases()}

    @cache
    def engine(case: CaseId) -> Engine:
        written = read_facts(facts / f"{case}.jsonl", cases[case], locomo.places(case))
        if request.rename:
            to = renaming(cases[case], seed=request.choice.seed)
            written = {
                turn: [renamed_claim(claim, to) for claim in claims] for turn, claims in written.items()
            }
        return recorded(written, others)

    return Engines(name=recorded({}, others).name, of=engine)


def _judge(request: Request) -> tuple[Judge, LanguageModel | None]:
    unknown = [style for style in request.judge_styles if style not in STYLES]
    if unknown:
        raise InvalidInput(f"no judge style {', '.join(map(repr, unknown))}; there are: {', '.join(STYLES)}")
    if request.judge is None or request.kind == "retrieval":
        if request.judge_styles:
            raise InvalidInput("--judge-style needs --judge: without a model, answers are judged by words")
        return ByWords(), None
    model = _model(request, request.judge, "a judge needs a model")
    return ModelJudge(model, request.judge_styles or ("strict",)), model


def _model(request: Request, name: str | None, otherwise: str) -> RecordingModel:
    """A model at the endpoint that the `TIERMEM_*` settings name; its calls are kept with the run."""
    if name is None:
        raise InvalidInput(f"{otherwise} (and TIERMEM_BASE_URL, unless it is OpenAI's)")
    settings = Settings()
    model = OpenAIModel(
        name,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        roles=settings.role_models,
        prices=_prices(request.prices),
        options=ModelOptions(
            timeout=settings.model_timeout,
            deadline=settings.model_deadline or None,
            reply_mb=settings.model_reply_mb,
            concurrency=request.concurrency or settings.model_concurrency,
        ),
    )
    return RecordingModel(model, request.out / CALLS)


def _prices(file: Path | None) -> dict[str, Price]:
    """Prices by model name from JSON: `{"gpt-4.1-mini": {"input": 0.4, "output": 1.6}}`, a million tokens."""
    if file is None:
        return {}
    try:
        return TypeAdapter(dict[str, Price]).validate_json(file.read_bytes())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"no price table in {str(file)!r}: {error}") from error


def _manifest(request: Request, dataset: Dataset, engine: Engines, judge: Judge) -> Manifest:
    models = (
        {}
        if engine.model is None
        else {role: engine.model.model_for(role) for role in ("distil", "route", "compose")}
    )
    by_model = engine.model is not None
    prompts = [load(name).id for name in _PROMPTS] if by_model else []
    questions = sum(len(case.questions) for case in dataset.cases())
    return Manifest(
        kind=request.kind,
        dataset=dataset.name,
        checksum=dataset.checksum,
        defects=dataset.defects,
        systems=request.systems,
        judge="none" if request.kind == "retrieval" else judge.name,
        engine=engine.name,
        reader=engine.reader,
        models=models,
        embedder=MiniLMEmbedder(precision=request.precision).name,
        token_counter=token_counter().name,
        settings=_settings(request),
        prompts=(*prompts, *judge.prompts) if isinstance(judge, ModelJudge) else tuple(prompts),
        seed=request.choice.seed,
        limit=request.choice.limit,
        epochs=request.epochs,
        questions=questions,
        concurrency=request.concurrency or (8 if by_model else 1),
        commit=commit(),
        machine=machine(),
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        sample=_sample(request),
        profile=request.profile,
    )


def _sample(request: Request) -> dict[str, Any]:
    choice = request.choice
    wanted = {
        "questions": choice.questions,
        "categories": choice.categories and list(choice.categories),
        "conversations": choice.conversations and list(choice.conversations),
        "renamed": request.rename or None,
        "pile": request.pile,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _settings(request: Request) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(json.dumps(dict(request.settings), default=str))
    return settings | ({"mem0": mem0.description()} if "mem0" in request.systems else {})


def write_reports(folders: Sequence[RunFolder], where: Path) -> tuple[Path, Path]:
    """`report.md` and `report.html` on one or several runs."""
    from eval.report import markdown, page, report

    reports = [report(folder) for folder in folders]
    where.mkdir(parents=True, exist_ok=True)
    (where / "report.md").write_text(markdown(reports), encoding="utf-8")
    (where / "report.html").write_text(page(reports), encoding="utf-8")
    return where / "report.md", where / "report.html"
