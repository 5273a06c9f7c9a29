"""What repeating MemTier's retrieval found, as tables and claim by claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from statistics import mean
from typing import Final

import numpy as np

from eval.report.values import UNKNOWN, Table, number, share
from eval.research.memtier.asking import AskedDataset, Outcomes, scope_name
from eval.research.memtier.measures import (
    CUTOFFS,
    FIRST,
    SCORED,
    SESSIONS,
    Outcome,
    Pool,
    Say,
    same_by_all_scalings,
    say,
)
from eval.research.memtier.published import (
    ABLATION,
    ACCURACY_BY_TYPE,
    NDCG,
    RECALL,
    RECALL_BY_TYPE,
    SCOPES,
    WHOLE,
    implied,
)
from eval.research.memtier.score import FADES
from eval.research.reproduction import Claim, Reproduction, Verdict, wilson

_OPENING: Final = (
    "MemTier chooses sessions by BM25 over facts that a language model wrote, and ranks the entries of "
    "these sessions by five signals, of which BM25 has no bound. Here is the part that needs no language "
    "model, on the 100 questions of the development sample of LongMemEval_S; the source has another sample "
    "of 100. Entries are turns. In place of the model's facts the first stage looks among what users said. "
    "BM25 is `rank-bm25`'s Okapi, k1 1.5, b .75, over the entries that are ranked. Where meaning is used it "
    "is all-MiniLM-L6-v2 in 8 bits; the source has bge-small. In brackets: Wilson's 95 % intervals."
)
_DEFAULT: Final = scope_name(SESSIONS)
_PRINTED_GAINS: Final = {"multi-session": 0.077, "temporal-reasoning": 0.037, "knowledge-update": -0.125}


def found(asked: AskedDataset, *, command: str, data: str) -> Reproduction:
    """Everything, with verdicts; what was not asked of meaning is listed as not measured."""
    meaning = asked.pools[0].meaning is not None
    says = {one.name: say(one, asked.pools) for one in SCORED if meaning or not one.needs_meaning}
    tables = [
        _recall_table(asked.outcomes),
        _types_table(asked.outcomes[_DEFAULT]),
        _scope_table(asked.outcomes),
        _say_table(says),
    ]
    if meaning:
        tables.append(_fusion_table(asked.outcomes))
    return Reproduction(
        title="MemTier: two stages and five signals",
        opening=_OPENING,
        command=command,
        data={data: asked.checksum},
        tables=tuple(tables),
        claims=(
            *_recall_claims(asked.outcomes[_DEFAULT]),
            *_signal_claims(says, asked.pools),
            *_scope_claims(asked.outcomes),
            *(_fusion_claims(asked.outcomes) if meaning else ()),
            *_printed_claims(),
            *_unmeasured(meaning=meaning),
        ),
        numbers={
            "outcomes": {name: [asdict(one) for one in of] for name, of in asked.outcomes.items()},
            "signals": {name: asdict(one) for name, one in says.items()},
            "ranked alike by N0 to N3": same_by_all_scalings(asked.pools),
        },
    )


def _rate(hits: Sequence[bool]) -> float:
    return mean(map(float, hits))


def _with_interval(hits: Sequence[bool]) -> str:
    if not hits:
        return UNKNOWN
    low, high = wilson(sum(hits), len(hits))
    return f"{share(_rate(hits))} [{share(low, 2)}, {share(high, 2)}]"


def _recall_table(outcomes: Outcomes) -> Table:
    rows = []
    for name, of in outcomes.items():
        cells = [
            " / ".join(share(_rate([by(one)[k] for one in of]), 2) for k in CUTOFFS)
            for by in (attrgetter("any"), attrgetter("all"), attrgetter("answer"))
        ]
        rows.append((name, *cells, share(mean(one.ndcg for one in of))))
    return Table(
        title="Found among the first 1 / 2 / 4 entries",
        columns=(
            "sessions searched",
            "a turn of the evidence",
            "all of it",
            "the gold answer, word for word",
            "NDCG@4",
        ),
        rows=(("the source (5)", UNKNOWN, UNKNOWN, ".33 / .39 / .43 (of one kind)", share(NDCG)), *rows),
        notes=(
            "The source does not say what counts as found. Its figures by type are whole questions (.038 is "
            "1 of 26), and preferences, whose gold answer is a description, are at .000: the gold answer "
            "word for word is the reading that fits best. “Oracle sessions”: exactly those that hold "
            "evidence.",
        ),
    )


def _by_type(of: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    return {name: [one for one in of if one.category == name] for name in RECALL_BY_TYPE}


def _types_table(of: Sequence[Outcome]) -> Table:
    rows = [
        (
            name,
            str(len(those)),
            share(RECALL_BY_TYPE[name]),
            *(
                _with_interval([by(one)[FIRST] for one in those])
                for by in (attrgetter("answer"), attrgetter("any"), attrgetter("all"))
            ),
        )
        for name, those in _by_type(of).items()
    ]
    return Table(
        title="By type, among the first two",
        columns=("type", "questions", "source", "the gold answer", "a turn of the evidence", "all of it"),
        rows=tuple(rows),
    )


def _scope_table(outcomes: Outcomes) -> Table:
    rows = []
    for scope, (accuracy, ratio) in SCOPES.items():
        of = outcomes[scope_name(scope)]
        rows.append(
            (
                scope_name(scope),
                share(accuracy),
                f"{ratio:.2f}".removeprefix("0") if ratio < 1 else "1.00",
                share(mean(one.searched for one in of)),
                share(mean(one.covered for one in of)),
                _with_interval([one.answer[FIRST] for one in of]),
                _with_interval([one.any[FIRST] for one in of]),
            )
        )
    return Table(
        title="How many sessions the first stage takes",
        columns=(
            "sessions",
            "source: accuracy",
            "source: share searched",
            "share searched",
            "evidence sessions among them",
            "the gold answer, first two",
            "a turn of the evidence, first two",
        ),
        rows=tuple(rows),
    )


def _say_table(says: Mapping[str, Say]) -> Table:
    return Table(
        title="What the other signals change",
        columns=(
            "score",
            "BM25's part over all others (median entry)",
            "its reach over theirs (median question)",
            "other entries shown than by BM25 alone",
            "a turn of the evidence, first two",
        ),
        rows=tuple(
            (
                name,
                number(one.ratio, 1),
                "they do not differ" if one.reach is None else f"{one.reach:.1f}",
                share(one.changed),
                share(one.found),
            )
            for name, one in says.items()
        ),
        notes=(
            f"Entries of the {SESSIONS} chosen sessions. Cognitive weight is 0 everywhere, because no "
            "model judged, and every entry is episodic. Reach is the greatest part less the smallest within "
            "a question: what can change a ranking. N4 is BM25 as z-scores with all signals of one weight.",
        ),
    )


def _fusion_table(outcomes: Outcomes) -> Table:
    names = (_DEFAULT, "first stage fused", "second stage fused")
    rows = [
        ("all", *(_with_interval([one.any[FIRST] for one in outcomes[name]]) for name in names)),
        *(
            (
                kind,
                *(_found_of(outcomes[name], kind) for name in names),
            )
            for kind in RECALL_BY_TYPE
        ),
    ]
    return Table(
        title="BM25 and meaning, fused",
        columns=("type", "BM25", *names[1:]),
        rows=tuple(rows),
        notes=("Reciprocal ranks, k = 60; a turn of the evidence among the first two.",),
    )


def _found_of(of: Sequence[Outcome], kind: str) -> str:
    return _with_interval([one.any[FIRST] for one in _by_type(of)[kind]])


def _recall_claims(of: Sequence[Outcome]) -> list[Claim]:
    claims = [_beside(f"R@{k}", theirs, [one.answer[k] for one in of]) for k, theirs in RECALL.items()]
    claims += [
        _beside(f"R@2, {name}", theirs, [one.answer[FIRST] for one in _by_type(of)[name]])
        for name, theirs in RECALL_BY_TYPE.items()
    ]
    return [*claims, _guaranteed_failure(_by_type(of)["multi-session"])]


def _guaranteed_failure(multi: Sequence[Outcome]) -> Claim:
    shown = [one.any[FIRST] for one in multi]
    printed = ACCURACY_BY_TYPE["multi-session"]
    return Claim(
        says="96 % of multi-session questions have no answer in the first two entries: “a guaranteed "
        "failure before the reader is invoked”",
        found=f"its own accuracy on such questions is {share(printed)} (Table 7, also two entries), three "
        f"times the .038 that would be possible; here {_with_interval(shown)} of them are shown evidence in "
        "the first two: a sum over sessions is in no entry word for word",
        verdict=_if(printed > RECALL_BY_TYPE["multi-session"], "does not hold", "agrees"),
    )


def _beside(says: str, theirs: float, hits: Sequence[bool]) -> Claim:
    """A printed share beside ours: it agrees where it lies in our interval, as the samples are others."""
    if not hits:
        return Claim(says=f"{says}: {share(theirs)}", found="no such question", verdict="not measured")
    low, high = wilson(sum(hits), len(hits))
    return Claim(
        says=f"{says}: {share(theirs)}",
        found=f"{_with_interval(hits)}, the gold answer, {len(hits)} questions",
        verdict=_if(low <= theirs <= high, "agrees", "differs"),
    )


def _signal_claims(says: Mapping[str, Say], pools: Sequence[Pool]) -> list[Claim]:
    same, questions = same_by_all_scalings(pools), len(pools)
    age = float(np.median(np.concatenate([of.days for of in pools])))
    printed, n4_printed = says["as printed"], says["N4 as printed"]
    n4_aged, aged, bounded = (
        says[name] for name in ("N4, decay by age", "decay by age", "bounded BM25, decay by age")
    )
    return [
        Claim(
            says="N0 to N3 (raw, log, min-max, z-score) rank alike",
            found=f"the same ranking for {same} of {questions} questions; it is a property, tested for all "
            "inputs",
            verdict=_if(same == questions, "agrees", "differs"),
        ),
        Claim(
            says="N4, all signals of one weight, changes nothing either",
            found=f"with the signals as printed {share(n4_printed.changed)} of the questions are shown "
            "other entries",
            verdict=_if(not n4_printed.changed, "agrees", "differs"),
        ),
        Claim(
            says="the probe confirms “definitively” that no scaling can matter, and only another retrieval "
            "can",
            found="it confirms it for signals that do not differ. Where decay depends on age, N4 shows other "
            f"entries to {share(n4_aged.changed)} of the questions and a bounded BM25 to "
            f"{share(bounded.changed)}, a raw one to {share(aged.changed)}. It does not follow that they "
            f"are better: {share(n4_aged.found)} and {share(bounded.found)} are shown evidence, by BM25 "
            f"alone {share(printed.found)}",
            verdict=_if(n4_aged.changed > 0 and bounded.changed > 0, "does not hold", "agrees"),
        ),
        Claim(
            says="BM25's part of the score is 5 to 10 times that of the others",
            found=f"{number(printed.ratio, 1)} times, the median entry that shares a word with the question",
            verdict=_if(printed.ratio is not None and 5 <= printed.ratio <= 10, "agrees", "differs"),
        ),
        Claim(
            says="the bounded signals change nothing because they are “overwhelmed”",
            found="every entry of a chosen session passes the bypass of formula (3): decay is 1 for all of "
            f"them by definition (by age alone, {number(age)} days in the median, it would be "
            f"{share(float(np.exp(-FADES * age)), 2)}); tier and cognitive weight are the same for all "
            "here. A signal that does not differ changes no ranking, at any weight",
            verdict=_if(printed.reach is None, "does not hold", "differs"),
        ),
        Claim(
            says="accuracy is higher without decay (.394), cognitive weight (.396) or tier (.394) than .382",
            found=f"without any of them {share(printed.changed)} of the questions are shown other entries "
            "here, and of decay that must be so while two stages choose the sessions: whatever moved the "
            "accuracy, it was not the ranking of their entries by decay",
            verdict=_if(not printed.changed, "does not hold", "differs"),
        ),
    ]


def _if(holds: bool, then: Verdict, otherwise: Verdict) -> Verdict:
    return then if holds else otherwise


def _scope_claims(outcomes: Outcomes) -> list[Claim]:
    one, five = outcomes[scope_name(1)], outcomes[_DEFAULT]
    everything = outcomes[scope_name(None)]
    answers = [[out.answer[FIRST] for out in of] for of in (one, five, everything)]
    evidence = [[out.any[FIRST] for out in of] for of in (one, five, everything)]
    told = [
        f"the gold answer {_with_interval(answer)}, a turn of the evidence {_with_interval(turn)}"
        for answer, turn in zip(answers, evidence, strict=True)
    ]
    ratio = mean(out.searched for out in one)
    return [
        Claim(
            says="one session is too few (.280 of .360)",
            found=f"among the first two: {told[0]}; with five {told[1]}",
            verdict=_if(sum(answers[0]) < sum(answers[1]), "agrees", "differs"),
        ),
        Claim(
            says="all sessions are worse than five (.340 of .360)",
            found=f"among the first two: {told[2]}; with five {told[1]}",
            verdict=_if(sum(answers[2]) < sum(answers[1]), "agrees", "differs"),
        ),
        Claim(
            says="with one session .18 of all sessions are searched, with three to ten .19",
            found=f"one of some 48 sessions is {share(ratio)}. The printed shares are those of about one "
            "question in six searched whole, say where the facts match nothing; that is our reading",
            verdict=_if(ratio < 0.05, "does not hold", "differs"),
        ),
    ]


def _fusion_claims(outcomes: Outcomes) -> list[Claim]:
    words, first, second = (outcomes[name] for name in (_DEFAULT, "first stage fused", "second stage fused"))
    moved = sum(one.any != other.any for one, other in zip(words, first, strict=True))
    gained = {kind: _gain(_by_type(words)[kind], _by_type(second)[kind]) for kind in _PRINTED_GAINS}
    return [
        Claim(
            says="BM25, dense and fused first stages find exactly the same (Table 5), with accuracies of "
            ".36, .38 and .39 (Table 7)",
            found=f"fused, the first stage finds otherwise for {moved} questions: {_two(first)} are shown a "
            f"turn of the evidence in place of {_two(words)}. And if the same entries are shown to the same "
            "reader at temperature 0, its answers cannot differ by .077 on one type and .125 on another",
            verdict="does not hold",
        ),
        Claim(
            says="fused (accuracy): " + ", ".join(f"{kind} {by:+.3f}" for kind, by in _PRINTED_GAINS.items()),
            found="a second stage fused, a turn of the evidence among the first two: "
            + ", ".join(f"{kind} {by:+.3f}" for kind, by in gained.items())
            + f"; all {_two(second)} in place of {_two(words)}",
            verdict=_if(
                all(gained[kind] * by > 0 for kind, by in _PRINTED_GAINS.items()), "agrees", "differs"
            ),
        ),
    ]


def _two(of: Sequence[Outcome]) -> str:
    return _with_interval([one.any[FIRST] for one in of])


def _gain(before: Sequence[Outcome], after: Sequence[Outcome]) -> float:
    if not before:
        return 0.0
    return _rate([one.any[FIRST] for one in after]) - _rate([one.any[FIRST] for one in before])


def _printed_claims() -> list[Claim]:
    whole = [row for row in ABLATION if implied(row) == WHOLE]
    other = [row for row in ABLATION if implied(row) == 0.380]
    neither = [row for row in ABLATION if row not in whole and row not in other]
    one = neither[0]
    return [
        Claim(
            says="Table 2: differences “relative to full system” (.382)",
            found=f"{len(whole)} rows count from .382, {len(other)} from .380, and {one.name} from neither: "
            f"{share(one.accuracy)} is printed as −.006 and is +.004 or +.006. Read the accuracies, not the "
            "differences",
            verdict=_if(bool(neither), "does not hold", "agrees"),
        ),
    ]


def _unmeasured(*, meaning: bool) -> list[Claim]:
    told = [
        ("Table 1 and 2 (accuracy .050, .252, .382; F1 .054, .142, .412)", "need a language model"),
        ("Table 6 (oracle retrieval .550 of .350), Tables 3, 7 and 9", "need a language model"),
        ("first stage over extracted facts (3.1 a question)", "the facts are not published"),
    ]
    if not meaning:
        told.append(("dense and fused retrieval", "nothing was embedded: see --meaning"))
    return [Claim(says=says, found=why, verdict="not measured") for says, why in told]
