"""What repeating MemTier's retrieval found, as tables and claim by claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import mean
from typing import Final

from eval.memtier.asking import Asked, Outcomes, scope_name
from eval.memtier.measures import CUTOFFS, FIRST, SCORED, SESSIONS, Outcome, Say, same_by_all_scalings, say
from eval.memtier.published import (
    ABLATION,
    ACCURACY_BY_TYPE,
    NDCG,
    RECALL,
    RECALL_BY_TYPE,
    SCOPES,
    WHOLE,
    implied,
)
from eval.report.values import UNKNOWN, Table, share
from eval.reproduction import Claim, Reproduction, Verdict, compared, wilson

_OPENING: Final = (
    "MemTier chooses sessions by BM25 over facts that a language model wrote, and ranks the entries of these "
    "sessions by five signals, of which BM25 has no bound. Here is the part that needs no language model, on "
    "the 100 questions of the development sample of LongMemEval_S; the source has another sample of 100. "
    "Entries are turns. In place of the model's facts the first stage looks among what users said. BM25 is "
    "`rank-bm25`'s Okapi, k1 1.5, b .75, over the entries that are ranked. Where meaning is used it is "
    "all-MiniLM-L6-v2 in 8 bits; the source has bge-small. In brackets: Wilson's 95 % intervals."
)
_DEFAULT: Final = scope_name(SESSIONS)


def found(asked: Asked, *, command: str, data: str) -> Reproduction:
    """Everything, with verdicts; what was not asked of meaning is listed as not measured."""
    meaning = asked.pools[0].meaning is not None
    says = {one.name: say(one, asked.pools) for one in SCORED if meaning or not one.needs_meaning}
    same = same_by_all_scalings(asked.pools)
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
            *_signal_claims(says, same, len(asked.pools)),
            *_scope_claims(asked.outcomes),
            *(_fusion_claims(asked.outcomes) if meaning else ()),
            *_printed_claims(),
            *_unmeasured(meaning=meaning),
        ),
        numbers={
            "outcomes": {name: [asdict(one) for one in of] for name, of in asked.outcomes.items()},
            "signals": {name: asdict(one) for name, one in says.items()},
            "ranked alike by N0 to N3": same,
        },
    )


def _rate(hits: Sequence[bool]) -> float:
    return mean(map(float, hits))


def _with_interval(hits: Sequence[bool]) -> str:
    low, high = wilson(sum(hits), len(hits))
    return f"{share(_rate(hits))} [{share(low, 2)}, {share(high, 2)}]"


def _recall_table(outcomes: Outcomes) -> Table:
    rows = []
    for name, of in outcomes.items():
        cells = [
            " / ".join(share(_rate([by(one)[k] for one in of]), 2) for k in CUTOFFS)
            for by in (lambda one: one.any, lambda one: one.all, lambda one: one.answer)
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
            "The source does not say what counts as found. Its figures by type are whole questions (.038 "
            "is 1 "
            "of 26), and preferences, whose gold answer is a description, are at .000: the gold answer word "
            "for word is the reading that fits best. “Oracle sessions”: exactly those that hold evidence.",
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
                for by in (lambda one: one.answer, lambda one: one.any, lambda one: one.all)
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
        title="What the other signals have to say",
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
                f"{one.ratio:.1f}",
                "they do not differ" if one.reach is None else f"{one.reach:.1f}",
                share(one.changed),
                share(one.found),
            )
            for name, one in says.items()
        ),
        notes=(
            f"Entries of the {SESSIONS} chosen sessions. Cognitive weight is 0 everywhere, as nobody "
            "judged, and "
            "every entry is episodic. Reach is the greatest part less the smallest within a question: what a "
            "ranking hears. N4 is BM25 as z-scores with all signals of one weight.",
        ),
    )


def _fusion_table(outcomes: Outcomes) -> Table:
    names = (_DEFAULT, "first stage fused", "second stage fused")
    rows = [
        ("all", *(_with_interval([one.any[FIRST] for one in outcomes[name]]) for name in names)),
        *(
            (
                kind,
                *(share(_rate([one.any[FIRST] for one in _by_type(outcomes[name])[kind]])) for name in names),
            )
            for kind in RECALL_BY_TYPE
        ),
    ]
    return Table(
        title="BM25 and meaning, fused (reciprocal ranks, k = 60): a turn of the evidence among the first "
        "two",
        columns=("type", "BM25", *names[1:]),
        rows=tuple(rows),
    )


def _recall_claims(of: Sequence[Outcome]) -> list[Claim]:
    claims = [
        compared(f"R@{k}", theirs, _rate([one.answer[k] for one in of]), within=0.1, found="the gold answer")
        for k, theirs in RECALL.items()
    ]
    claims += [
        compared(
            f"R@2, {name}",
            theirs,
            _rate([one.answer[FIRST] for one in _by_type(of)[name]]),
            within=0.1,
            found=f"the gold answer, {len(_by_type(of)[name])} questions",
        )
        for name, theirs in RECALL_BY_TYPE.items()
    ]
    multi = _by_type(of)["multi-session"]
    any_of_it = _rate([one.any[FIRST] for one in multi])
    printed = ACCURACY_BY_TYPE["multi-session"]
    return [
        *claims,
        Claim(
            says="96 % of multi-session questions have no answer in the first two entries: “a guaranteed "
            "failure before the reader is invoked”",
            found=f"its own accuracy on these questions is {share(printed)} (Table 7), three times the "
            f".038 that would be possible; here {share(any_of_it)} of them are shown evidence in the first "
            "two: "
            "a sum over sessions stands in no entry word for word",
            verdict="does not hold" if any_of_it > RECALL_BY_TYPE["multi-session"] else "differs",
        ),
    ]


def _signal_claims(says: Mapping[str, Say], same: int, questions: int) -> list[Claim]:
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
            found=f"with the signals as printed {share(n4_printed.changed)} of the questions are shown other "
            "entries",
            verdict=_if(not n4_printed.changed, "agrees", "differs"),
        ),
        Claim(
            says="the probe confirms “definitively” that no scaling can matter, and only another retrieval "
            "can",
            found="it confirms it for signals that do not differ. Where decay tells age, N4 shows other "
            "entries "
            f"to {share(n4_aged.changed)} of the questions and a bounded BM25 to {share(bounded.changed)}, "
            "a raw "
            f"one to {share(aged.changed)}. It does not follow that they are better: "
            f"{share(n4_aged.found)} and {share(bounded.found)} are shown evidence, by BM25 alone "
            f"{share(printed.found)}",
            verdict=_if(n4_aged.changed > 0 and bounded.changed > 0, "does not hold", "agrees"),
        ),
        Claim(
            says="bounded signals are “overwhelmed by the unbounded BM25 term”, 5 to 10 times",
            found=f"the median entry: {printed.ratio:.1f} times. But that is not why they are silent: every "
            "entry of a chosen session passes the bypass of formula (3), so that decay is 1 for all of "
            "them by "
            "definition, and tier and cognitive weight are the same for all as well",
            verdict=_if(5 <= printed.ratio <= 10 and printed.reach is not None, "agrees", "differs"),
        ),
        Claim(
            says="accuracy is higher without decay (.394), cognitive weight (.396) or tier (.394) than .382",
            found=f"leaving any of them out shows other entries to {share(printed.changed)} of the questions "
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
    answers = [_rate([out.answer[FIRST] for out in of]) for of in (one, five, everything)]
    ratio = mean(out.searched for out in one)
    return [
        Claim(
            says="one session is too few (.280 of .360)",
            found=f"the gold answer is among the first two for {share(answers[0])} of the questions, with "
            "five "
            f"sessions for {share(answers[1])}",
            verdict=_if(answers[0] < answers[1], "agrees", "differs"),
        ),
        Claim(
            says="all sessions are worse than five (.340 of .360)",
            found=f"{share(answers[2])} with all, {share(answers[1])} with five; a turn of the evidence "
            f"{share(_rate([out.any[FIRST] for out in everything]))} and "
            f"{share(_rate([out.any[FIRST] for out in five]))}",
            verdict=_if(answers[2] < answers[1], "agrees", "differs"),
        ),
        Claim(
            says="with one session .18 of all sessions are searched, with three to ten .19",
            found=f"one of some 48 sessions is {share(ratio)}. The printed shares are those of about one "
            "question in six searched whole, say where the facts match nothing; that is our reading",
            verdict=_if(ratio < 0.05, "does not hold", "differs"),
        ),
    ]


def _fusion_claims(outcomes: Outcomes) -> list[Claim]:
    words, first, second = (
        _rate([one.any[FIRST] for one in outcomes[name]])
        for name in (_DEFAULT, "first stage fused", "second stage fused")
    )
    shown = {
        name: [[one.any[k] for k in CUTOFFS] for one in outcomes[name]]
        for name in (_DEFAULT, "first stage fused")
    }
    moved = sum(one != other for one, other in zip(shown[_DEFAULT], shown["first stage fused"], strict=True))
    return [
        Claim(
            says="BM25, dense and fused first stages find exactly the same (Table 5), with accuracies of "
            ".36, "
            ".38 and .39 (Table 7)",
            found=f"fused, the first stage finds otherwise for {moved} questions: {share(first)} in place of "
            f"{share(words)}. And if the same entries are shown to the same reader at temperature 0, its "
            "answers cannot differ by .077 on one type and .125 on another",
            verdict="does not hold",
        ),
        Claim(
            says="fused retrieval is better: +.077 multi-session, +.037 temporal, −.125 update (accuracy)",
            found=f"in the second stage {share(second)} in place of {share(words)} are shown evidence; by "
            "type "
            "in the table above",
            verdict=_if(second > words, "agrees", "differs"),
        ),
    ]


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
