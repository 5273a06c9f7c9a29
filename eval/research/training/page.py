"""What learning MemTier's weights found, as tables and claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from eval.report.values import Table, share
from eval.research.memtier.published import LEARNED
from eval.research.memtier.score import SIGNALS
from eval.research.reproduction import Claim, Reproduction, Verdict
from eval.research.training.diagnosis import Diagnosis
from eval.research.training.policy import DEFAULTS
from eval.research.training.study import SEEDS, Learned

_OPENING: Final = (
    "MemTier learns the weights of its score by PPO: weights are drawn around a mean (σ .15), cut off at 0 "
    "and divided by their sum; one question is one episode, its advantage the reward less the mean of its "
    f"batch of {DEFAULTS.batch}; clip {DEFAULTS.clip}, {DEFAULTS.epochs} steps a batch. The source rewards "
    "+1 for a right answer of a model and −1 else; here +1 where a turn of the evidence is among the first "
    f"{DEFAULTS.shown} entries. Its optimiser and rate are not printed: plain ascent here, with a rate of "
    f"{DEFAULTS.rate} that moves weights about as far as the source's. 100 questions of LongMemEval_S, the "
    f"entries of the five sessions chosen by BM25; {SEEDS} seeds. TierMem learns no weights in this way: "
    "the diagnosis is what this is for."
)


def found(
    learned: Sequence[Learned],
    trapped: tuple[float, Diagnosis],
    *,
    command: str,
    data: str,
    checksum: str,
) -> Reproduction:
    """Everything, with verdicts."""
    return Reproduction(
        title="MemTier: learning the weights",
        opening=_OPENING,
        command=command,
        data={data: checksum},
        tables=(_change_table(learned), _effect_table(learned), _diagnosis_table(learned, trapped[1])),
        claims=(*_claims(learned, trapped), *_unmeasured()),
        numbers={
            "trap": {"largest change": trapped[0], "diagnosis": asdict(trapped[1])},
            "learned": {one.name: _numbers(one) for one in learned},
        },
    )


def _numbers(one: Learned) -> dict[str, Any]:
    return {
        "change": one.change.tolist(),
        "deviation": one.deviation.tolist(),
        "by chance": one.by_chance.tolist(),
        "rank change": one.rank_change,
        "before": one.before,
        "after": one.after,
        "deaf": one.deaf,
        "diagnosis": asdict(one.diagnosis),
    }


def _signed(value: float) -> str:
    return ("−" if value < 0 else "+") + share(abs(value))


def _change_table(learned: Sequence[Learned]) -> Table:
    source = tuple(_signed(LEARNED[name]) if name in LEARNED else "–" for name in SIGNALS)
    rows: list[tuple[str, ...]] = [("the source, one run", *source)]
    for one in learned:
        rows.append((one.name, *map(_signed, one.change)))
        rows.append(("– deviation over seeds", *map(share, one.deviation)))
        rows.append(("– the same, rewards dealt out by chance", *map(share, one.by_chance)))
    return Table(
        title="How far weights move",
        columns=("score", *SIGNALS),
        rows=tuple(rows),
        notes=(
            "“By chance”: +1 as often as there are hits, whatever is shown. A change that is not clearly "
            "greater than this deviation is a walk at random.",
        ),
    )


def _effect_table(learned: Sequence[Learned]) -> Table:
    return Table(
        title="What it does",
        columns=(
            "score",
            "shown the same whatever is drawn",
            "shown other entries after learning",
            "evidence among the first two, before",
            "after",
        ),
        rows=tuple(
            (one.name, share(one.deaf), share(one.rank_change), share(one.before), share(one.after))
            for one in learned
        ),
        notes=(
            "Means over the seeds; measured on the questions that were learned from, so that “after” is the "
            "best one can say of it.",
        ),
    )


def _diagnosis_table(learned: Sequence[Learned], trapped: Diagnosis) -> Table:
    named = [("15 episodes, reward by cognitive weight", trapped)]
    named += [(one.name, one.diagnosis) for one in learned]
    return Table(
        title="Diagnosis (first seed)",
        columns=(
            "training",
            "variance of advantages",
            "length of the gradient",
            "BM25's reach over the rest",
            "circular",
            "advice",
        ),
        rows=tuple(
            (
                name,
                f"{one.advantage_variance:.3g}",
                f"{one.gradient_norm:.3g}",
                "the rest does not differ" if one.dominance is None else f"{one.dominance:.1f}",
                "yes" if one.circular else "no",
                " ".join(one.advice) or "–",
            )
            for name, one in named
        ),
    )


def _claims(learned: Sequence[Learned], trapped: tuple[float, Diagnosis]) -> list[Claim]:
    change, why = trapped
    by_name = {one.name: one for one in learned}
    printed, bounded = by_name["as printed"], by_name["bounded BM25, decay by age"]
    aged = by_name["decay by age"]
    best = max(learned, key=lambda one: one.after)
    return [
        Claim(
            says="Table 4: 15 episodes of one cognitive weight leave every weight as it was (zero-variance "
            "trap)",
            found=f"the largest change is {change:.1g}, the variance of the advantages "
            f"{why.advantage_variance:.1g}",
            verdict=_if(change < 1e-12, "agrees", "differs"),
        ),
        Claim(
            says="a reward by cognitive weight is circular",
            found="so the diagnosis says: the reward of no episode would be another if all entries shown "
            "were right, or none",
            verdict=_if(why.circular, "agrees", "differs"),
        ),
        Claim(
            says="a direct reward gives advantages that differ, and weights move by about .03",
            found=f"variance {printed.diagnosis.advantage_variance:.2f}; by BM25 "
            f"{_signed(float(printed.change[1]))} ± {share(float(printed.deviation[1]))} (the rate was "
            "chosen for that)",
            verdict=_if(printed.diagnosis.advantage_variance > 0, "agrees", "differs"),
        ),
        Claim(
            says="the first entries stay the same with the weights learned",
            found=f"other entries for {share(printed.rank_change)} of the questions",
            verdict=_if(not printed.rank_change, "agrees", "differs"),
        ),
        Claim(
            says="“meaningful weight updates”: the zero-variance trap is broken",
            found=f"{share(printed.deaf)} of the questions are shown the same entries by 20 draws of "
            "weights, as must be while BM25 has any: no reward depends on the weights, and the advantages "
            "differ by how hard questions are, nothing else. Over the seeds the weight of BM25 deviates by "
            f"{share(float(printed.deviation[1]))}, by rewards dealt out by chance "
            f"{share(float(printed.by_chance[1]))}: the walk is as long without any reward to learn from",
            verdict=_if(printed.deaf == 1.0, "does not hold", "differs"),
        ),
        Claim(
            says="weights have no effect because BM25 dominates by 5 to 10 times",
            found="with the signals as printed there is nothing to dominate: they do not differ. Where "
            f"decay tells age, a raw BM25 leaves other entries to {share(aged.rank_change)} of the "
            f"questions, a bounded one to {share(bounded.rank_change)}",
            verdict=_if(printed.diagnosis.dominance is None, "does not hold", "differs"),
        ),
        Claim(
            says="BM25 must be bounded, or retrieval be dense, “before learned weights can provide marginal "
            "gains”",
            found=f"bounded, BM25 shows evidence to {share(bounded.before)} of the questions before and to "
            f"{share(bounded.after)} after learning, on the very questions it learned from; raw, without "
            f"any learning, to {share(printed.before)}. The best of all is {share(best.after)} ({best.name})",
            verdict=_if(best.after > printed.before + 0.02, "agrees", "differs"),
        ),
    ]


def _if(holds: bool, then: Verdict, otherwise: Verdict) -> Verdict:
    return then if holds else otherwise


def _unmeasured() -> list[Claim]:
    return [
        Claim(
            says="accuracy with the weights learned (.382, as before)",
            found="needs a language model that answers",
            verdict="not measured",
        )
    ]
