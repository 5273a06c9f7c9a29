"""Reports, computed from a run folder and nothing else: the same folder gives the same report."""

from __future__ import annotations

from eval.folder import Manifest, RunFolder
from eval.report import answers, epochs, retrieval
from eval.report.render import markdown, page, terminal
from eval.report.values import Report

__all__ = ["Report", "markdown", "page", "report", "terminal"]


def report(folder: RunFolder) -> Report:
    """Everything there is to say about the run in a folder."""
    records = list(folder.records())
    kind = folder.manifest.kind
    facts = _facts(folder.manifest)
    title = f"{folder.manifest.dataset}: {kind}"
    match kind:
        case "retrieval":
            return Report(
                title=title,
                facts=facts,
                tables=retrieval.tables(records),
                charts=retrieval.charts(records),
                questions=retrieval.questions(records),
                numbers=retrieval.numbers(records),
            )
        case "qa":
            return Report(
                title=title,
                facts=facts | answers.describe_judge(records),
                tables=answers.tables(records),
                charts=answers.charts(records),
                questions=answers.questions(records),
                numbers=answers.numbers(records),
            )
        case "replay":
            records = epochs.newest_attempts(records)
            return Report(
                title=title,
                facts=facts,
                tables=epochs.tables(records),
                charts=epochs.charts(records),
                questions=answers.questions(records),
                numbers=epochs.numbers(records),
            )


def _facts(manifest: Manifest) -> dict[str, str]:
    flaws = ", ".join(f"{kind} {count}" for kind, count in sorted(manifest.defects.items()))
    limit = {} if manifest.limit is None else {"limit": manifest.limit}
    sample = {**limit, **manifest.sample}
    return {
        "Dataset": f"{manifest.dataset}, {manifest.questions} questions, SHA-256 {manifest.checksum}",
        "Sample": ", ".join(f"{name}={_plain(value)}" for name, value in sample.items()) or "everything",
        "Flaws of the whole file": flaws or "none",
        "Systems": ", ".join(manifest.systems),
        "Engine": manifest.engine,
        "Reader": manifest.reader or "none",
        "Models": ", ".join(f"{role}: {name}" for role, name in manifest.models.items()) or "none",
        "Judge": manifest.judge,
        "Embedder": manifest.embedder,
        "Tokens counted with": manifest.token_counter,
        "Profile": manifest.profile or "none",
        "Settings": ", ".join(f"{name}={value}" for name, value in manifest.settings.items()) or "defaults",
        "Prompts": ", ".join(manifest.prompts) or "none",
        "Seed": str(manifest.seed),
        "Questions at once": str(manifest.concurrency),
        "Code": manifest.commit,
        "Machine": manifest.machine,
        "Started": manifest.started_at,
    }


def _plain(value: object) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
