"""How the guard does on real dialogue: true facts kept, altered facts let through.

    python -m tests.proof.guard_on_real_text [path to locomo] [--worst N]

Facts are those a language model wrote for five conversations (`model_facts`), each with the turns it
rests on. Every fact is linked as it is (proved = supported, on the right page), and again after each
alteration that applies to it; a fact that is supported then is a false accept.
"""

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from pagestore import Page
from tests.text.dialogue import Conversation, conversations
from tiermem.model import Claim, LinkedFact
from tiermem.proof import link
from tiermem.proof.unsupported import CONTENT_FREE, TIME_WORDS
from tiermem.text import resolve_dates, sentences
from tiermem.text.dates import MONTHS, without_dates
from tiermem.text.literals import names, numbers
from tiermem.text.words import STOP_WORDS, WORD, stem, word_list
from tiermem.text.words import words as split_words

OTHER_NAMES = ("Priscilla", "Rodrigo", "Marseille", "Helsinki", "Nakamura", "Zephyr")
SHORTEST = 2
"""Letters that a content word has more than."""
NUMBER_WORDS = word_list("two three four five six seven eight nine ten eleven")
AUXILIARIES = word_list("is was has had have would will can could are were should did does")


@dataclass
class Tally:
    """Counts for one conversation, or for all."""

    facts: int = 0
    kept: int = 0
    worded: int = 0
    together: int = 0
    """Facts proved with all turns they rest on quoted, not the one alone."""
    tried_together: Counter[str] = field(default_factory=Counter)
    accepted_together: Counter[str] = field(default_factory=Counter)
    exchanged: int = 0
    exchanged_accepted: int = 0
    refused: list[tuple[str, str, str]] = field(default_factory=list)
    altered_refused: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    lost: list[tuple[str, str, str]] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    let_through: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.facts += other.facts
        self.kept += other.kept
        self.worded += other.worded
        self.together += other.together
        self.refused += other.refused
        self.tried_together.update(other.tried_together)
        self.accepted_together.update(other.accepted_together)
        self.exchanged += other.exchanged
        self.exchanged_accepted += other.exchanged_accepted
        self.altered_refused.update(other.altered_refused)
        self.lost += other.lost
        self.let_through += other.let_through
        self.reasons.update(other.reasons)
        self.tried.update(other.tried)
        self.accepted.update(other.accepted)


def grade(claim: str, quotes: tuple[str, ...], pages: list[Page]) -> tuple[str, str]:
    """ "supported", "unsupported" or "refused", and why a claim is not supported."""
    linked = link(Claim(text=claim, quotes=quotes), pages)
    if not isinstance(linked, LinkedFact):
        return "refused", linked.reason
    return "supported" if linked.is_supported else "unsupported", linked.reason


def altered_number(fact: str) -> Iterator[str]:
    dates = resolve_dates(fact, None)
    for match in re.finditer(r"\b\d+\b", fact):
        if not any(mention.start <= match.start() < mention.end for mention in dates):
            yield fact[: match.start()] + str(int(match.group()) + 3) + fact[match.end() :]
    for match in re.finditer(r"\b(?:" + "|".join(NUMBER_WORDS[:-1]) + r")\b", fact, re.IGNORECASE):
        other = NUMBER_WORDS[NUMBER_WORDS.index(match.group().lower()) + 1]
        yield fact[: match.start()] + other + fact[match.end() :]


def altered_date(fact: str) -> Iterator[str]:
    for mention in resolve_dates(fact, None):
        text = mention.text
        year = re.search(r"(?:19|20)\d\d", text)
        day = re.search(r"(?<!\d)\d{1,2}(?!\d)", text)
        month = next((name for name in MONTHS if name.capitalize() in text), None)
        changed = []
        if day:
            changed.append(text[: day.start()] + str(int(day.group()) % 28 + 1) + text[day.end() :])
        if month:
            changed.append(
                text.replace(month.capitalize(), MONTHS[(MONTHS.index(month) + 1) % 12].capitalize())
            )
        if year:
            changed.append(text.replace(year.group(), str(int(year.group()) - 1)))
        for new in changed:
            yield fact[: mention.start] + new + fact[mention.end :]


def altered_name(fact: str, speakers: tuple[str, str]) -> Iterator[str]:
    for at, name in enumerate(dict.fromkeys(names(fact))):
        if name not in speakers:
            yield re.sub(r"\b" + re.escape(name) + r"\b", OTHER_NAMES[at % len(OTHER_NAMES)], fact)
    for at, name in enumerate(speakers):
        if name in fact:
            yield re.sub(r"\b" + name + r"\b", OTHER_NAMES[at], fact)


def swapped_people(fact: str, speakers: tuple[str, str]) -> Iterator[str]:
    one, two = speakers
    together = f"{one} and {two}" in fact or f"{two} and {one}" in fact  # swapping these changes nothing
    if (one in fact or two in fact) and not together:
        yield re.sub(rf"\b({one}|{two})\b", lambda match: two if match[1] == one else one, fact)


def negated_fact(fact: str) -> Iterator[str]:
    found = re.search(r"\b(not|no|never|cannot|without)\b ?|(?<=\w)n't\b", fact)
    if found:
        yield (
            fact.replace("cannot ", "can ")
            if found[1] == "cannot"
            else fact[: found.start()] + fact[found.end() :]
        )
        return
    auxiliary = re.search(r"\b(?:" + "|".join(AUXILIARIES) + r")\b", fact)
    if auxiliary:
        yield fact[: auxiliary.end()] + " not" + fact[auxiliary.end() :]
    else:
        yield f"It is not true that {fact}"


def altered_word(fact: str, pool: Sequence[str], rng: random.Random) -> Iterator[str]:
    """Replace one content word, drawn at random, by one of another fact."""
    places = content_words(fact)
    if places:
        place, other = rng.choice(places), rng.choice(pool)
        if stem(other.lower()) not in set(map(stem, split_words(fact))):
            yield fact[: place.start()] + other + fact[place.end() :]


def content_words(text: str) -> list[re.Match[str]]:
    """Find the words that say something: no stop word, number, name or date."""
    plain = without_dates(text, resolve_dates(text, None))
    named = set(split_words(" ".join(names(text))))
    return [
        match
        for match in WORD.finditer(plain)
        if len(match.group()) > SHORTEST
        and match.group().lower() not in STOP_WORDS | named
        and stem(match.group().lower()) not in CONTENT_FREE | TIME_WORDS
        and not numbers(match.group())
    ]


def other_quotes(fact: dict[str, Any], page: Page, *, near: bool) -> Iterator[str]:
    at = next(i for i, line in enumerate(page.lines) if line.turn and line.turn.turn_id == fact["dia_ids"][0])
    cited = set(fact["dia_ids"])
    for index, line in enumerate(page.lines):
        if line.turn is None or line.turn.turn_id in cited or (abs(index - at) == 1) != near:
            continue
        long = [piece.text for piece in sentences(line.turn.text) if len(piece.text.split()) >= 4]
        if long:
            yield max(long, key=len)


def exchanged(talk: Conversation) -> Iterator[tuple[str, tuple[str, ...], list[Page]]]:
    """Two facts of different turns told as one, each with the name that belongs to the other."""
    named = []
    for fact in talk.facts:
        own = [name for name in dict.fromkeys(names(fact["fact"])) if name not in talk.speakers]
        if len(own) == 1 and " " not in own[0] and own[0] in fact["quote"]:
            named.append((fact, own[0]))
    for (one, here), (two, there) in pairwise(named):
        pages = [talk.page_of_turn[fact["dia_ids"][0]] for fact in (one, two)]
        if here == there or one["dia_ids"][0] == two["dia_ids"][0]:
            continue
        first = re.sub(rf"\b{re.escape(here)}\b", there, one["fact"]).rstrip(".")
        second = re.sub(rf"\b{re.escape(there)}\b", here, two["fact"])
        yield f"{first}, and {second}", (one["quote"], two["quote"]), list(dict.fromkeys(pages))


def alterations(
    fact: dict[str, Any], talk: Conversation, rng: random.Random, pool: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    text, quote, page = fact["fact"], fact["quote"], talk.page_of_turn[fact["dia_ids"][0]]
    for new in altered_number(text):
        yield "number", new, quote
    for new in altered_date(text):
        yield "date", new, quote
    for new in altered_name(text, talk.speakers):
        yield "name", new, quote
    for new in swapped_people(text, talk.speakers):
        yield "person swapped", new, quote
    for new in negated_fact(text):
        yield "negation", new, quote
    for new in altered_word(text, pool, random.Random(text)):
        yield "word", new, quote
    for other in other_quotes(fact, page, near=True):
        yield "neighbour's quote", text, other
    far = list(other_quotes(fact, page, near=False))
    if far:
        yield "quote from elsewhere", text, rng.choice(far)
    words = quote.split()
    if len(words) >= 4:
        words[len(words) // 2] = "perhaps"
        yield "quote altered", text, " ".join(words)


def measure(talk: Conversation) -> Tally:
    rng = random.Random(talk.name)
    tally = Tally()
    pool = [match.group() for fact in talk.facts for match in content_words(fact["fact"])]
    for fact in talk.facts:
        pages = [talk.page_of_turn[fact["dia_ids"][0]]]
        _true(fact, talk, pages, tally)
        for kind, text, quote in alterations(fact, talk, rng, pool):
            if text == fact["fact"] and quote == fact["quote"]:
                continue
            tally.tried[kind] += 1
            support, _ = grade(text, (quote,), pages)
            if support == "supported":
                tally.accepted[kind] += 1
                tally.let_through.append((kind, text, quote))
            tally.altered_refused[kind] += support == "refused"
            if quote == fact["quote"] and len(fact["dia_ids"]) > 1:
                quotes, every = all_quoted(fact, talk)
                tally.tried_together[kind] += 1
                tally.accepted_together[kind] += grade(text, quotes, every)[0] == "supported"
    for text, quotes, pages in exchanged(talk):
        tally.exchanged += 1
        if grade(text, quotes, pages)[0] == "supported":
            tally.exchanged_accepted += 1
            tally.let_through.append(("names exchanged", text, " | ".join(quotes)))
    return tally


def _true(fact: dict[str, Any], talk: Conversation, pages: list[Page], tally: Tally) -> None:
    tally.facts += 1
    support, reason = grade(fact["fact"], (fact["quote"],), pages)
    tally.kept += support == "supported"
    tally.worded += support == "unsupported"
    if support != "supported":
        tally.reasons[reason.split(":")[0]] += 1
        tally.lost.append((reason, fact["fact"], fact["quote"]))
    if support == "refused":
        tally.refused.append((reason, fact["fact"], fact["quote"]))
    tally.together += support == "supported" or grade(fact["fact"], *all_quoted(fact, talk))[0] == "supported"


def all_quoted(fact: dict[str, Any], talk: Conversation) -> tuple[tuple[str, ...], list[Page]]:
    """All the turns a fact rests on as its quotes, and their pages."""
    known = [name for name in fact["dia_ids"] if name in talk.turns]
    others = (talk.turns[name].text for name in known if name != fact["dia_ids"][0])
    return (fact["quote"], *others), list(dict.fromkeys(talk.page_of_turn[name] for name in known))


def table(tallies: dict[str, Tally]) -> str:
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    kinds = list(total.tried)
    rows = [
        f"{'conversation':14}{'facts':>7}"
        + "".join(f"{grade:>9}" for grade in ("proved", "worded", "refused", "together"))
        + "  "
        + "".join(f"{kind:>22}" for kind in kinds)
    ]
    for name, tally in {**tallies, "all": total}.items():
        cells = "".join(
            f"{tally.accepted[k]:>9}/{tally.tried[k]:<5}{tally.accepted[k] / max(1, tally.tried[k]):>6.1%} "
            for k in kinds
        )
        parts = (tally.kept, tally.worded, len(tally.refused))
        shares = "".join(f"{part / max(1, tally.facts):>9.1%}" for part in parts)
        rows.append(f"{name:14}{tally.facts:>7}{shares}{tally.together / max(1, tally.facts):>9.1%}  {cells}")
    everything, wrong = sum(total.tried.values()), sum(total.accepted.values())
    rows.append(
        f"false accepts over all alterations: {wrong}/{everything} = {wrong / max(1, everything):.2%}"
    )
    rows.append(
        f"names exchanged between two quotes: {total.exchanged_accepted}/{total.exchanged} let through"
    )
    both, let = sum(total.tried_together.values()), sum(total.accepted_together.values())
    kinds_let = ", ".join(f"{k} {total.accepted_together[k]}/{n}" for k, n in total.tried_together.items())
    rows.append(f"altered, all turns quoted: {let}/{both} = {let / max(1, both):.2%} ({kinds_let})")
    refused = sum(total.altered_refused.values())
    rows.append(
        f"altered facts refused: {refused}/{everything} = {refused / max(1, everything):.2%} ("
        + ", ".join(f"{kind} {total.altered_refused[kind]}" for kind in kinds) + ")"
    )  # fmt: skip
    rows.append(
        "true facts not proved for: "
        + ", ".join(f"{reason} {n}" for reason, n in total.reasons.most_common())
    )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo"
    parser.add_argument("locomo", nargs="?", type=Path, default=default)
    parser.add_argument(
        "--worst", type=int, default=0, help="print so many facts not proved and false accepts of each kind"
    )
    options = parser.parse_args()
    tallies = {talk.name: measure(talk) for talk in conversations(options.locomo) if talk.facts}
    out = [table(tallies)]
    out += [
        f"refused [{reason}]\n    {claim}\n    {quote!r}"
        for tally in tallies.values() for reason, claim, quote in tally.refused
    ]  # fmt: skip
    rng = random.Random(1)
    for title, cases in (("not proved", "lost"), ("let through", "let_through")):
        found = [case for tally in tallies.values() for case in getattr(tally, cases)]
        rng.shuffle(found)
        seen: Counter[str] = Counter()
        for kind, claim, quote in found:
            seen[kind.split(":")[0]] += 1
            if seen[kind.split(":")[0]] <= options.worst:
                out.append(f"{title} [{kind}]\n    {claim}\n    {quote!r}")
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
