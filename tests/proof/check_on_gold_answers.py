"""How the check of answers does on true and on altered answers, with exactly the annotated evidence cited.

    python -m tests.proof.check_on_gold_answers [path to data] [--worst N]

For every answerable question of LoCoMo's and LongMemEval's development parts, the gold answer is checked
against the turns named as its evidence. A true answer that is refused is a fault. Then one thing in it is
made wrong: a number by one, a date by a day, month or year, a name replaced, or one content word replaced by
a content word of another gold answer. One that is still graded stated or derived is a false accept. Last, the
true answer cites another turn of the conversation, drawn at random; that turn may hold the same words.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.datasets import LoCoMo, LongMemEval
from eval.types import Case, Dataset, LabelledQuestion
from pagestore import Turn
from tests.proof.guard_on_real_text import OTHER_NAMES, altered_date, altered_word, content_words
from tiermem.proof import graded
from tiermem.text import Source, resolve_dates
from tiermem.text.literals import names
from tiermem.text.words import word_list

RANDOM_TURN = "random turn"
"""Kept out of the sum of false accepts: another turn may support the answer too."""
WORDS = word_list("zero one two three four five six seven eight nine ten eleven twelve")
PROVED = ("stated", "derived")


@dataclass
class Tally:
    """Counts for one dataset: true answers by grade, altered ones by kind."""

    true: Counter[str] = field(default_factory=Counter)
    of_kind: dict[str, Counter[str]] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    shown: list[tuple[str, str, str, str]] = field(default_factory=list)

    @property
    def questions(self) -> int:
        return sum(self.true.values())

    @staticmethod
    def altered(counts: Counter[str]) -> int:
        """Sum the counts of altered answers; a random turn alters no answer."""
        return sum(count for kind, count in counts.items() if kind != RANDOM_TURN)

    def share(self, kind: str) -> float:
        """Return the share of the answers altered so that are graded stated or derived."""
        return self.accepted[kind] / self.tried[kind]


def evidence(case: Case, question: LabelledQuestion) -> list[Source]:
    """The turns named as evidence of a question, as what an answer cites."""
    turns = {session.id: session.turns for session in case.sessions}
    return [
        Source(turn.text, turn.said_at, turn.speaker)
        for passage in question.evidence
        for turn in turns[passage.session][passage.start : passage.end]
    ]


def altered_by_one(answer: str) -> Iterator[str]:
    dates = resolve_dates(answer, None)
    for match in re.finditer(r"(?<![\d.,:])\d+(?![\d:]|[.,]\d)", answer):
        if not any(mention.start <= match.start() < mention.end for mention in dates):
            for step in (-1, 1):
                yield answer[: match.start()] + str(int(match.group()) + step) + answer[match.end() :]
    for match in re.finditer(r"\b(?:" + "|".join(WORDS[2:-1]) + r")\b", answer, re.IGNORECASE):
        at = WORDS.index(match.group().lower())
        for other in (WORDS[at - 1], WORDS[at + 1]):
            yield answer[: match.start()] + other + answer[match.end() :]


def altered_name(answer: str) -> Iterator[str]:
    for at, name in enumerate(dict.fromkeys(names(answer))):
        yield re.sub(r"\b" + re.escape(name) + r"\b", OTHER_NAMES[at % len(OTHER_NAMES)], answer)


def alterations(answer: str, pool: Sequence[str], chance: random.Random) -> Iterator[tuple[str, str]]:
    for kind, made in (
        ("number", altered_by_one(answer)), ("date", altered_date(answer)), ("name", altered_name(answer)),
        ("word", altered_word(answer, pool, chance)),
    ):  # fmt: skip
        yield from ((kind, text) for text in dict.fromkeys(made) if text != answer)


def measure(dataset: Dataset) -> Tally:
    """Every answerable question with evidence."""
    tally, chance = Tally(), random.Random(7)
    cases = list(dataset.cases())
    golds = [gold_of(question) for case in cases for question in case.questions if question.gold]
    pool = [match.group() for gold in golds for match in content_words(gold)]
    for case in cases:
        every = [turn for session in case.sessions for turn in session.turns]
        for question in case.questions:
            cited = evidence(case, question)
            if question.answerable and question.gold and cited:
                _one(question, cited, tally, pool, chance)
                _random_turn(question, cited, every, tally, chance)
    return tally


def gold_of(question: LabelledQuestion) -> str:
    """Return the gold answer; of "7 days. 8 days (including the last day) is also acceptable." the first."""
    return question.gold[0].split(". ")[0] if "acceptable" in question.gold[0] else question.gold[0]


def _random_turn(
    question: LabelledQuestion,
    cited: Sequence[Source],
    every: Sequence[Turn],
    tally: Tally,
    chance: random.Random,
) -> None:
    turn = chance.choice(every)
    other = Source(turn.text, turn.said_at, turn.speaker)
    if other not in cited:
        tally.tried[RANDOM_TURN] += 1
        found = graded(gold_of(question), [other], question=question.text, asked_at=question.asked_at)
        tally.accepted[RANDOM_TURN] += found.support in PROVED
        if found.support in PROVED:
            tally.shown.append(("let through random turn", question.text, gold_of(question), turn.text))


def _one(
    question: LabelledQuestion, cited: list[Source], tally: Tally, pool: Sequence[str], chance: random.Random
) -> None:
    gold, asked_at = gold_of(question), question.asked_at
    found = graded(gold, cited, question=question.text, asked_at=asked_at)
    tally.true[found.support] += 1
    tally.of_kind.setdefault(question.category, Counter())[found.support] += 1
    tally.shown.append((f"true {found.support}", question.text, gold, found.reason))
    for kind, text in alterations(gold, pool, chance):
        other = graded(text, cited, question=question.text, asked_at=asked_at)
        tally.tried[kind] += 1
        tally.accepted[kind] += other.support in PROVED
        tally.refused[kind] += other.support == "contradicted"
        if other.support in PROVED:
            how = "; ".join(
                f"{d.kind} {d.value} {[t.text or t.said_at for t in d.terms]}" for d in other.derivations
            )
            tally.shown.append((f"let through {kind}", question.text, f"{gold} -> {text}", how))


def table(tallies: dict[str, Tally]) -> str:
    rows = []
    for name, tally in tallies.items():
        parts = {"all": tally.true, **tally.of_kind}
        for kind, counts in parts.items():
            total = sum(counts.values())
            cells = "".join(
                f"{grade} {counts[grade]:>4} = {counts[grade] / total:>5.1%}   "
                for grade in ("stated", "derived", "worded", "contradicted")
            )
            rows.append(f"{name:12} {kind:26} {total:>4}  {cells}")
        tried, accepted = tally.altered(tally.tried), tally.altered(tally.accepted)
        rows.append(
            f"{name:12} altered: let through {accepted}/{tried} = {accepted / max(1, tried):.2%} ("
            + ", ".join(f"{kind} {tally.accepted[kind]}/{tally.tried[kind]}" for kind in tally.tried)
            + f"); refused {sum(tally.refused.values())}"
        )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parents[3] / "shared" / "data"
    parser.add_argument("data", nargs="?", type=Path, default=default)
    parser.add_argument("--worst", type=int, default=0, help="print so many answers of each outcome")
    options = parser.parse_args()
    tallies = {
        "locomo": measure(LoCoMo(options.data / "locomo" / "locomo_dev7.json")),
        "longmemeval": measure(
            LongMemEval(options.data / "longmemeval" / "longmemeval_oracle_dev100.json.xz")
        ),
    }
    out = [table(tallies)]
    for name, tally in tallies.items():
        cases = list(tally.shown)
        random.Random(1).shuffle(cases)
        seen: Counter[str] = Counter()
        for kind, asked, answer, reason in sorted(cases, key=lambda case: case[0]):
            seen[kind] += 1
            if seen[kind] <= options.worst:
                out.append(f"{name} [{kind}] {asked}\n    {answer}\n    {reason}")
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
