"""What ways to route come to, as a page in the layout of the paper's Tables 3, 11, 13 and 14."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from eval.metrics.intervals import Estimate, estimate
from eval.report.values import Table, number, percent, share
from eval.research.reproduction import Claim, Reproduction, Verdict
from eval.research.training.router import router_reward
from eval.research.training.router.compare import LEARNED, SUPERVISED, Routed
from eval.research.training.router.learn import Options, advantages
from eval.research.training.router.router_reward import Choice, reward
from eval.research.training.router.rows import Row, counted

BY_REWARD: Final = "supervised, then by reward"
NOT_DIVIDED: Final = "– advantages not divided"
_OPENING: Final = (
    "TierMem's paper trains a router in two stages: on labels (was the answer from summaries right, and "
    "where it was not, that from the raw pages?), then by a reward that weighs accuracy against cost. Here "
    "the same two stages are run on a policy small enough for one core, linear in {signals} signals that a "
    "route can see. **The answers are those of the engine “{engine}”**, so that these are figures of routing "
    "between its two ways to answer, and none of the paper's router. Both ways were answered from one memory "
    "and are on record; what a router comes to is looked up, not asked. Each "
    "conversation is decided by a policy learned from the others alone; three seeds. LoCoMo is CC BY-NC: "
    "**no policy learned from it is given away**, and none comes with TierMem. The recipes for a large model "
    "(`eval/research/training/router/recipes`) hold the paper's hyperparameters, and were not run."
)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One file of outcomes, and what every way to route comes to on it."""

    rows: Sequence[Row]
    ways: Mapping[str, Sequence[Routed]]


def found(compared: Sequence[Compared], *, names: Sequence[str], signals: int) -> Reproduction:
    """The page. `names` are the files, as somebody else would name them."""
    tables = [table for one in compared for table in (_routing(one), _matrices(one))]
    return Reproduction(
        title="A router learned from outcomes",
        opening=_OPENING.format(signals=signals, engine=compared[0].rows[0].origin.engine),
        command=_commands(compared, names),
        data={one.rows[0].origin.dataset: one.rows[0].origin.checksum for one in compared},
        tables=(*tables, _rewards(), _recipe()),
        claims=(*(claim for one in compared for claim in _claims(one)), _stakes(compared), *_unmeasured()),
        numbers={_name(one): _numbers(one) for one in compared},
    )


def _commands(compared: Sequence[Compared], names: Sequence[str]) -> str:
    """All of it from the data on, as somebody else would type it."""
    origins = [one.rows[0].origin for one in compared]
    systems = dict.fromkeys(name for of in origins for name in (of.summary, of.raw))
    asked = " ".join(f"--{name} {value}" for name, value in origins[0].sample.items())
    lines = [
        f"python -m eval qa {origins[0].dataset} --data FILE --systems {','.join(systems)} {asked} "
        "--engine model --keep --out run",
        *(
            f"python -m eval.research router-data run --summary {of.summary} --raw {of.raw} --out {name}"
            for of, name in zip(origins, names, strict=True)
        ),
        f"python -m eval.research router-train {' '.join(names)} --page router.md",
    ]
    return "\n    ".join(lines)


def _name(one: Compared) -> str:
    origin = one.rows[0].origin
    return f"{origin.summary} or {origin.raw}"


def _routing(one: Compared) -> Table:
    main = [row for row in one.rows if row.answerable]
    always, never = one.ways["always"][0], one.ways["never"][0]
    labels = counted(main)
    return Table(
        title=f"{_name(one)} (layout of Table 3)",
        columns=(
            "Router", "R-rate %", "Recall (hard) %", "F1 %", "Overall acc. (95 %)", "Tok in / Q",
            "of always %", "reward / Q", "no answer there: right %",
        ),
        rows=tuple(_row(name, of, always.tokens) for name, of in one.ways.items()),
        notes=(
            f"{len(main)} questions that have an answer: from what was recalled {labels['S']} are right, "
            f"from the pages alone {labels['R']} (hard), from neither {labels['neither']}. "
            f"{len(one.rows) - len(main)} that have none are in the last column only.",
            f"Reading the pages every time changes accuracy by {always.accuracy - never.accuracy:+.3f}, "
            f"for {always.tokens / max(never.tokens, 1):.0f} times the evidence.",
            "Where seeds differ: their mean, and from the least to the most. Accuracy with the interval of "
            "the first seed, over conversations. Tokens are those of the evidence that the way taken reads; "
            "no router here reads any.",
            "A router that draws lots finds as large a share of the hard questions as it escalates.",
            f"Engine: {one.rows[0].origin.engine}. Judge: {one.rows[0].origin.judge}.",
        ),
    )  # fmt: skip


def _row(name: str, seeds: Sequence[Routed], always: float) -> tuple[str, ...]:
    first = seeds[0]
    low, high = share(first.interval.low), share(first.interval.high)
    return (
        name,
        _over([one.escalation.rate for one in seeds]),
        _over([one.escalation.recall for one in seeds]),
        _over([one.escalation.f1 for one in seeds]),
        f"{share(float(np.mean([one.accuracy for one in seeds])))} ({low}–{high})",
        number(float(np.mean([one.tokens for one in seeds]))),
        percent(float(np.mean([one.tokens for one in seeds])) / always),
        number(float(np.mean([one.reward for one in seeds])), 3),
        percent(first.others_right),
    )


def _over(values: Sequence[float | None]) -> str:
    """A share over seeds: one figure where they agree as printed."""
    known = [one for one in values if one is not None]
    if not known:
        return percent(None)
    least, most = percent(min(known)), percent(max(known))
    return least if least == most else f"{percent(float(np.mean(known)))} ({least}–{most})"


def _matrices(one: Compared) -> Table:
    rows = []
    for name, seeds in one.ways.items():
        of = seeds[0].matrix
        cells = (of.both, of.only_summary, of.only_raw, of.neither, of.total)
        rates = (percent(of.repair_rate), percent(of.regress_rate))
        rows.append((name, *(str(cell.count) for cell in cells), *rates))
    return Table(
        title=f"{_name(one)}: what is escalated (layout of Tables 13 and 14)",
        columns=(
            "Router", "S and R right", "S right, R wrong", "S wrong, R right", "S and R wrong", "escalated",
            "RepairRate %", "RegressRate %",
        ),
        rows=tuple(rows),
        notes=("First seed. Outcomes are looked up, so that each cell is as right as its name says.",),
    )  # fmt: skip


_CASES: Final[tuple[tuple[Choice | None, bool, bool, str], ...]] = (
    ("S", True, True, "S, summaries right"),
    ("S", False, True, "S, summaries wrong"),
    ("R", False, True, "R, needed and right"),
    ("R", True, True, "R, right and not needed"),
    ("R", False, False, "R, wrong like the summaries"),
    ("R", True, False, "R, wrong where summaries are right"),
    (None, True, True, "a reply out of form"),
)


def _rewards() -> Table:
    names = ("CORRECT_REWARD", "WRONG_PENALTY", "COST_S", "COST_R", "WASTE_R", "FORMAT_ERROR_PENALTY")
    values = ", ".join(f"{name} {getattr(router_reward, name):g}" for name in names)
    return Table(
        title="The reward (Eq. 1 with Table 11)",
        columns=("Choice", "reward"),
        rows=tuple((text, f"{reward(choice, c_s=s, c_r=r):+.1f}") for choice, s, r, text in _CASES),
        notes=(values + ".",),
    )


def _recipe() -> Table:
    used = Options()
    return Table(
        title="How the small policy learns",
        columns=("", "here", "the paper (a language model)"),
        rows=(
            ("first stage", "logistic regression of the labels", "5 epochs of LoRA on a teacher's replies"),
            ("draws a question", str(used.draws), "8"),
            ("KL to the first stage", f"{used.beta:g}", ".02"),
            ("epochs", str(used.epochs), "6"),
            ("questions a batch", str(used.batch), "24 completions a device"),
            ("clip", f"{used.clip:g}", "not printed"),
            ("rate, steps a batch", f"{used.rate:g}, {used.steps}, plain ascent", "5e-6"),
        ),
        notes=(
            "The rate was set before anything was measured, and not changed. No teacher, no paraphrases, no "
            "second judging; hard questions are not drawn more often.",
        ),
    )


def _claims(one: Compared) -> list[Claim]:
    """What reward adds to labels. Both are means over seeds; what an interval over conversations leaves open
    is not taken for agreement.
    """
    where = f"({_name(one)})"
    first, second = one.ways[SUPERVISED], one.ways[BY_REWARD]
    main = [row for row in one.rows if row.answerable]
    hard = [row for row in main if row.label == "R"]
    found_more = _change(hard, first, second, lambda of, row: row.question in of.escalated)
    more_right = _change(main, first, second, lambda of, row: of.right[row.question])
    f1 = f"F1 {percent(_mean(first, 'f1'))} → {percent(_mean(second, 'f1'))} %"
    rates = f"R-rate {percent(_mean(first, 'rate'))} → {percent(_mean(second, 'rate'))} %"
    recall = f"{percent(_mean(first, 'recall'))} → {percent(_mean(second, 'recall'))} % of {len(hard)}"
    return [
        Claim(
            says=f"reward after labels finds more hard questions (65.8 → 71.7 %, F1 37.5 → 40.6 %) {where}",
            found=f"{recall}, {_interval(found_more)}; {f1}, {rates}",
            verdict=_verdict(found_more),
        ),
        Claim(
            says=f"accuracy rises with it (.831 → .851) {where}",
            found=_interval(more_right),
            verdict=_verdict(more_right),
        ),
    ]


def _change(
    rows: Sequence[Row],
    first: Sequence[Routed],
    second: Sequence[Routed],
    what: Callable[[Routed, Row], bool],
) -> Estimate | None:
    """How much more often something is so of the second way than of the first; `None` of no question."""
    changes = [float(np.mean([what(of, row) for of in second]) - np.mean([what(of, row) for of in first]))
               for row in rows]  # fmt: skip
    return estimate(changes, [row.case for row in rows]) if rows else None


def _interval(change: Estimate | None) -> str:
    if change is None:
        return "nothing to count"
    chance = "" if change.low > 0 or change.high < 0 else ": no change that chance would not make"
    return f"by {change.mean:+.3f} ({change.low:+.3f} to {change.high:+.3f}){chance}"


def _verdict(change: Estimate | None) -> Verdict:
    return "agrees" if change is not None and change.low > 0 else "differs"


def _stakes(compared: Sequence[Compared]) -> Claim:
    """Whether steps depend on how much is at stake: a group of Table 11, and one where waste costs more."""
    group = np.array([[reward(choice, c_s=True, c_r=True) for choice in ("S", "R", "S", "S")]])
    dearer = np.where(group == group.min(), group - 1.0, group)
    same = np.allclose(advantages(group, "deviation"), advantages(dearer, "deviation"), atol=1e-2)
    plain = "; ".join(f"{_stake(one)} ({_name(one)})" for one in compared)
    return Claim(
        says="the reward makes it escalate only where the expected gain outweighs the cost (§3.2)",
        found="group advantages are divided by the deviation of their group, and the draws of a question "
        "have two rewards, or three with replies out of form. Of two, what is left is which choice is worth "
        "more, and not how much: coefficients that leave the order as it is give the same steps. Not "
        f"divided, R-rates and rewards of a question change: {plain}",
        verdict="does not hold" if same else "agrees",
    )


def _stake(one: Compared) -> str:
    divided, plain = one.ways[BY_REWARD], one.ways[NOT_DIVIDED]
    more = float(np.mean([of.reward for of in plain]) - np.mean([of.reward for of in divided]))
    rates = f"{percent(_mean(divided, 'rate'))} → {percent(_mean(plain, 'rate'))} %"
    return f"{rates}: {more:+.3f} of reward"


def _mean(seeds: Sequence[Routed], figure: str) -> float:
    return float(np.mean([getattr(of.escalation, figure) or 0.0 for of in seeds]))


def _unmeasured() -> list[Claim]:
    reasons = (
        ("Tables 3, 13 and 14 with a language model as router", "needs a GPU and a model to answer; not run"),
        ("labels by a judge of sufficiency (B.3), from a teacher's replies (B.5)", "no model judged here"),
    )
    return [Claim(says=says, found=why, verdict="not measured") for says, why in reasons]


def _numbers(one: Compared) -> dict[str, Any]:
    return {
        name: [
            {
                "rate": of.escalation.rate,
                "recall": of.escalation.recall,
                "f1": of.escalation.f1,
                "accuracy": of.accuracy,
                "tokens": of.tokens,
                "reward": of.reward,
                "others_right": of.others_right,
            }
            for of in seeds
        ]
        for name, seeds in one.ways.items()
    }


assert {SUPERVISED, BY_REWARD, NOT_DIVIDED} == LEARNED.keys()  # noqa: S101  (the names of both files)
