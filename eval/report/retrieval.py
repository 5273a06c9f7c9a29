"""The report of a retrieval run: who finds the evidence, how high, and what reading it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from eval.metrics.intervals import Estimate, estimate
from eval.metrics.retrieval import CUTOFFS
from eval.records import Labelling, Ranking, Record, Retrieved
from eval.report.charts import lines
from eval.report.values import INTERVALS, Chart, Table, interval, mark, mean, number, quantile, share
from eval.types import Level

Group = tuple[Level, Labelling]
Judged = list[tuple[Retrieved, Ranking]]

TITLES: Final[Mapping[Group, str]] = {
    ("session", "official"): "Sessions, LongMemEval's own definition",
    ("session", "vendor"): "Sessions, as vendors report (all questions)",
    ("session", "evidence"): "Sessions that hold evidence",
    ("page", "evidence"): "Pages that hold evidence",
    ("turn", "official"): "User turns, LongMemEval's own definition",
    ("turn", "evidence"): "Turns of evidence",
}
_MEASURES: Final[Mapping[str, Callable[[Ranking, int], float]]] = {
    "recall any": lambda ranking, k: ranking.scores(k).recall_any,
    "recall all": lambda ranking, k: ranking.scores(k).recall_all,
    "recall": lambda ranking, k: ranking.scores(k).recall,
    "NDCG any": lambda ranking, k: ranking.scores(k).ndcg_any,
    "tokens": lambda ranking, k: float(ranking.tokens_at(k)),
}


def grouped(records: Iterable[Record]) -> dict[Group, dict[str, Judged]]:
    """Judged rankings by level and labels, then by system, in the order of `TITLES`."""
    groups: dict[Group, dict[str, Judged]] = {group: {} for group in TITLES}
    for record in records:
        if isinstance(record, Retrieved):
            for ranking in record.rankings:
                # What an unanswerable question names as evidence is about something else.
                if record.answerable or ranking.labels != "evidence":
                    group = groups[ranking.level, ranking.labels]
                    group.setdefault(record.system, []).append((record, ranking))
    return {group: systems for group, systems in groups.items() if systems}


def tables(records: Sequence[Record], ours: str = "tiermem") -> tuple[Table, ...]:
    """Headline tables first, then every measure with its interval, by category, and differences."""
    groups = grouped(records)
    return (
        *(_headline(group, systems) for group, systems in groups.items()),
        *_lines(records),
        *(_differences(group, systems, ours) for group, systems in groups.items() if ours in systems),
        *(_by_category(group, systems) for group, systems in groups.items()),
        *(_every_measure(group, systems) for group, systems in groups.items()),
    )


def _headline(group: Group, systems: Mapping[str, Judged]) -> Table:
    columns = (
        "System", "any@1", "any@5", "all@5", "all@10", "mean@5", "mean@10",
        "NDCG@5", "NDCG@10", "MRR", "tokens@5", "ms p50",
    )  # fmt: skip
    rows = [
        (
            name,
            share(_mean(judged, "recall any", 1)),
            share(_mean(judged, "recall any", 5)),
            share(_mean(judged, "recall all", 5)),
            share(_mean(judged, "recall all", 10)),
            share(_mean(judged, "recall", 5)),
            share(_mean(judged, "recall", 10)),
            share(_mean(judged, "NDCG any", 5)),
            share(_mean(judged, "NDCG any", 10)),
            share(mean([ranking.reciprocal_rank() for _, ranking in judged])),
            number(_mean(judged, "tokens", 5)),
            number(1000 * (quantile([record.seconds for record, _ in judged], 0.5) or 0), 1),
        )
        for name, judged in systems.items()
    ]
    return Table(
        title=f"{TITLES[group]}{_count(systems)}", columns=columns, rows=tuple(rows), notes=_notes(systems)
    )


def _lines(records: Sequence[Record]) -> tuple[Table, ...]:
    """How often the first turn, or one of the first three, shows the answer; nothing for older records."""
    judged: dict[str, list[Retrieved]] = {}
    for record in records:
        if isinstance(record, Retrieved) and record.answerable and record.lines:
            judged.setdefault(record.system, []).append(record)
    if not judged:
        return ()
    rows = []
    for name, found in judged.items():
        cases = [record.case for record in found]
        first = estimate([float(record.lines[0]) for record in found], cases)
        three = estimate([float(any(record.lines)) for record in found], cases)
        rows.append((name, number(len(found)), interval(first), interval(three)))
    return (
        Table(
            title="Lines that show the answer",
            columns=("System", "questions", "first", "one of three"),
            rows=tuple(rows),
            notes=(
                "A line is a turn: it holds a gold answer (dates by the calendar), or is of the evidence. "
                "Bootstrap over questions, whole conversations drawn together.",
            ),
        ),
    )


def _notes(systems: Mapping[str, Judged]) -> tuple[str, ...]:
    notes = [
        "any@k: at least one target among the first k; all@k: every target; mean@k: the share of targets. "
        "tokens@5: what reading the first five costs."
    ]
    counts = {name: len(one) for name, one in systems.items()}
    if len(set(counts.values())) > 1:
        numbers_answered = ", ".join(f"{name} {count}" for name, count in counts.items())
        notes.append(
            f"NOT COMPARABLE: the systems have answered different numbers of questions ({numbers_answered})."
        )
    return tuple(notes)


def _count(systems: Mapping[str, Judged]) -> str:
    judged = next(iter(systems.values()))
    cases = len({record.case for record, _ in judged})
    return f" ({len(judged)} questions, {cases} conversations)"


def _mean(judged: Judged, measure: str, k: int) -> float | None:
    return mean([_MEASURES[measure](ranking, k) for _, ranking in judged])


def _estimate(judged: Judged, measure: str, k: int) -> Estimate:
    values = [_MEASURES[measure](ranking, k) for _, ranking in judged]
    return estimate(values, [record.case for record, _ in judged])


def _every_measure(group: Group, systems: Mapping[str, Judged]) -> Table:
    rows = []
    for name, judged in systems.items():
        for measure in _MEASURES:
            estimates = [_estimate(judged, measure, k) for k in CUTOFFS]
            cells = [number(e.mean) if measure == "tokens" else interval(e) for e in estimates]
            rows.append((name, measure, *cells))
    return Table(
        title=f"{TITLES[group]}: every measure, with 95 % intervals",
        columns=("System", "Measure", *(f"@{k}" for k in CUTOFFS)),
        rows=tuple(rows),
        notes=("Bootstrap over questions, whole conversations drawn together.",),
        brief=False,
    )


def _differences(group: Group, systems: Mapping[str, Judged], ours: str) -> Table:
    mine = {record.question: ranking for record, ranking in systems[ours]}
    columns = (
        ("recall any", 1),
        ("recall any", 5),
        ("recall all", 5),
        ("recall", 5),
        ("recall", 10),
        ("NDCG any", 5),
    )
    rows = []
    for name, judged in systems.items():
        shared = [(record, ranking) for record, ranking in judged if record.question in mine]
        if name == ours or not shared:
            continue
        cases = [record.case for record, _ in shared]
        drawn = cases if len(set(cases)) > 1 else [record.question for record, _ in shared]
        cells = []
        for measure, k in columns:
            value = _MEASURES[measure]
            gaps = [value(mine[record.question], k) - value(ranking, k) for record, ranking in shared]
            gap = estimate(gaps, drawn)
            sure = " *" if gap.low > 0 or gap.high < 0 else ""
            cells.append(f"{gap.mean:+.3f} [{gap.low:+.2f}, {gap.high:+.2f}]{sure}")
        rows.append((name, *cells))
    return Table(
        title=f"{TITLES[group]}: {ours} less each other system, question by question",
        columns=("Other system", *(f"{measure}@{k}" for measure, k in columns)),
        rows=tuple(rows),
        notes=(
            "* the 95 % interval of the paired difference does not hold zero. Whole conversations are drawn "
            "together; of one alone, its questions.",
        ),
        brief=False,
    )


def _by_category(group: Group, systems: Mapping[str, Judged]) -> Table:
    categories = list(dict.fromkeys(record.category for judged in systems.values() for record, _ in judged))
    rows = []
    for name, judged in systems.items():
        for measure, k in (("recall", 10), ("recall all", 10), ("NDCG any", 10)):
            within = [[one for one in judged if one[0].category == category] for category in categories]
            rows.append((name, f"{measure}@{k}", *(share(_mean(one, measure, k)) for one in within)))
    counts = {c: sum(record.category == c for record, _ in next(iter(systems.values()))) for c in categories}
    return Table(
        title=f"{TITLES[group]}: by category",
        columns=("System", "Measure", *(f"{category} ({counts[category]})" for category in categories)),
        rows=tuple(rows),
        brief=False,
    )


def charts(records: Sequence[Record]) -> tuple[Chart, ...]:
    """A recall curve for each level and labelling."""
    return tuple(
        Chart(
            title=f"{TITLES[group]}: recall@k",
            svg=lines(
                {
                    name: [mark(float(k), _estimate(judged, _curve(group), k)) for k in CUTOFFS]
                    for name, judged in systems.items()
                },
                x="k",
                y=_CURVES[_curve(group)],
                high=1.0,
                ticks=[float(k) for k in CUTOFFS],
            ),
            note=INTERVALS,
        )
        for group, systems in grouped(records).items()
    )


_CURVES: Final = {
    "recall": "mean share of the targets found",
    "recall any": "share of questions with a target found",
    "recall all": "share of questions with every target found",
}


def _curve(group: Group) -> str:
    return {"official": "recall all", "vendor": "recall any", "evidence": "recall"}[group[1]]


def numbers(records: Sequence[Record]) -> dict[str, Any]:
    """Every mean unrounded: by level and labels, system, measure and cutoff."""
    return {
        "/".join(group): {
            name: {
                "questions": len(judged),
                "mrr": mean([ranking.reciprocal_rank() for _, ranking in judged]),
                **{measure: {str(k): _mean(judged, measure, k) for k in CUTOFFS} for measure in _MEASURES},
            }
            for name, judged in systems.items()
        }
        for group, systems in grouped(records).items()
    }


def questions(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Every question with what each system found first, for a person to look through."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        if isinstance(record, Retrieved):
            entry = found.setdefault(
                (record.case, record.question),
                {
                    "id": record.question,
                    "text": record.text,
                    "category": record.category,
                    "gold": list(record.gold) or (["(not answerable)"] if not record.answerable else []),
                    "flags": list(record.flags),
                    "evidence": list(record.evidence),
                    "replies": [],
                },
            )
            entry["replies"].append(_reply(record))
    return list(found.values())


def _reply(record: Retrieved) -> dict[str, Any]:
    ranks = {
        f"{one.level} ({one.labels})": next((r for r, hit in enumerate(one.hits, 1) if hit >= 0), None)
        for one in record.rankings
    }
    finest = record.rankings[-1] if record.rankings else None
    return {
        "system": record.system,
        "verdict": None if finest is None else finest.scores(10).recall_all == 1.0,
        "ranks": ranks,
        "shown": list(record.shown),
    }
