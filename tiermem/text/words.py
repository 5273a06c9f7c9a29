"""Words, stems and sentences: how the rest of the library cuts text, the same way everywhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai and Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Japanese kana and marks
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "]+"
)
"""Runs of scripts that are written without spaces between words."""
_EMOJI = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]")
"""Symbols and pictures, without the modifiers of skin."""
EDGES = ".,;:!?…()[]{}<>'\"“”„«»‘’`*"
"""Punctuation at the ends of a word of a sentence that is no part of it."""
_LONGEST = 64
"""Letters of a word that is still taken apart; no English word is as long."""
_SHORT = 4
"""Letters from which on a word may have an ending of inflection."""
_SAME_LETTER = str.maketrans("ſıİ", "sii")


def word_list(text: str) -> list[str]:
    """The words of a list that is written as plain text."""
    return text.split()


def phrase_list(text: str) -> tuple[str, ...]:
    """The phrases of a text that are separated by commas, with single spaces between their words."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


STOP_WORDS = frozenset(
    word_list("""
        a about above after again all also am an and any are as at be because been before being below
        between both but by can could did do does doing down during each few for from further get got
        had has have having he her here hers herself him himself his how i if in into is it its itself
        just let me more most my myself of off on once only or other our ours ourselves out over own
        really s same she should so some such t than that the their theirs them themselves then there
        these they this those through to too under until up us very was we were what when where which
        while who whom why will with would you your yours yourself yourselves im i'm i've i'd i'll it's
        that's he's she's we're we've they're you're you've you'd you'll there's what's let's gonna
        wanna ll ve re d m
    """)
)

# The stemmer knows endings only.
_IRREGULAR = dict(
    pair.split("=")
    for pair in word_list("""
        ate=eat eaten=eat became=become began=begin begun=begin bought=buy broke=break broken=break
        brought=bring built=build came=come caught=catch children=child chose=choose chosen=choose
        drank=drink drawn=draw drew=draw driven=drive drove=drive fallen=fall fed=feed fell=fall felt=feel
        flew=fly flown=fly forgot=forget forgotten=forget fought=fight found=find gave=give given=give
        gone=go got=get gotten=get grew=grow grown=grow heard=hear held=hold hid=hide kept=keep knew=know
        known=know led=lead left=leave lent=lend lost=lose made=make meant=mean met=meet paid=pay ran=run
        ridden=ride rode=ride said=say sang=sing sat=sit saw=see seen=see sent=send slept=sleep sold=sell
        spent=spend spoke=speak spoken=speak stole=steal stolen=steal stood=stand sung=sing swam=swim
        swum=swim taken=take taught=teach thought=think threw=throw thrown=throw told=tell took=take
        understood=understand went=go woke=wake won=win wore=wear worn=wear written=write wrote=write
    """)
)

_SENTENCE_END = re.compile(
    r"""(?<![.\s]\w\.)(?<!\b[DM]r\.)(?<!\b[MJS][rst]\.)(?<!\bMrs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)
    (?<=[.!?…。！？])["'”’)\]]*(?=\s|$|[^\x00-\x7f])|[\r\n]+""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text with where it stood."""

    text: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """The words of `text` in order, lower case, straight apostrophes, accents composed (NFC)."""
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    return [word.lower() for word in WORD.findall(text.replace("’", "'"))]


def search_words(text: str) -> list[str]:
    """The words of `text` by which it is found, in no order that means anything: `words`, emoji, and of a run
    of a script that is written without spaces (Han, kana, Thai, Lao, Khmer, Burmese) its overlapping pairs of
    characters.
    """
    if text.isascii():
        return words(text)
    plain = unicodedata.normalize("NFC", text)
    runs = _UNSPACED.findall(plain)
    pairs = [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]
    return [*words(_UNSPACED.sub(" ", plain) if runs else plain), *pairs, *_EMOJI.findall(plain)]


def ends_at_spaces(character: str) -> bool:
    """Whether a word that has this character at an end is separated from the next by a space or a mark."""
    return character.isalnum() and _UNSPACED.match(character) is None


def is_compared_by_characters(word: str) -> bool:
    """Whether a word of `search_words` is an emoji, or of a script that is written without spaces."""
    return _UNSPACED.match(word) is not None or _EMOJI.match(word) is not None


def without_possessive(word: str) -> str:
    """A lower-case word without a possessive ending: "ann" of "ann's"."""
    return word.removesuffix("'s")


def lower(text: str) -> str:
    """`text` in lower case, with the letters that `re.IGNORECASE` takes for English ones: it finds "ſ" where
    an expression says "s", and "ı" or "İ" for "i", so that what was found can be looked up.
    """
    return text.translate(_SAME_LETTER).lower()


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """The English stem of one lower-case word, without a possessive ending; "went" has the stem of "go"."""
    # A Stemmer object is not safe to share between threads; making one costs microseconds and is cached away.
    plain = without_possessive(word)
    if len(plain) > _LONGEST:
        return plain
    return str(snowballstemmer.stemmer("english").stemWord(_IRREGULAR.get(plain, plain)))


def singular(word: str) -> str:
    """One lower-case word without plural and possessive endings: "dog" of "dogs", "dog's" and "dogs'"."""
    word = without_possessive(word).removesuffix("'")
    word = "child" if word == "children" else word
    if word.endswith("ies") and len(word) > _SHORT:
        return f"{word[:-3]}y"
    if len(word) < _SHORT or not word.endswith("s") or word[-2] in "sui":
        return word
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zes")) else word[:-1]


@lru_cache(maxsize=16384)
def base_form(word: str) -> str:
    """One lower-case word without endings of number, possession and tense; other endings are kept.

    Equal for "adopted" and "adopting", not for "general" and "generous". The result need not be a word.
    """
    word = singular(word[:_LONGEST])
    word = _IRREGULAR.get(word, word)
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= _SHORT - 1 and any(letter in "aeiouy" for letter in base):
            word = base[:-1] if base[-1] == base[-2] and base[-1] not in "lsz" else base
            break
    word = word.removesuffix("e") if len(word) > _SHORT - 1 else word
    return f"{word[:-1]}i" if word.endswith("y") and len(word) > _SHORT - 1 else word


def stems(text: str) -> list[str]:
    """Stems of the content words of `text` in order: stop words left out, repeats kept."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def search_stems(text: str) -> list[str]:
    """Stems of the words by which `text` is found, without stop words, repeats kept."""
    return [stem(word) for word in search_words(text) if word not in STOP_WORDS]


def sentences(text: str) -> list[Piece]:
    """The sentences of `text` with their offsets, outer white space left out."""
    return list(_cut(text))


def _cut(text: str) -> Iterator[Piece]:
    start = 0
    for match in (*_SENTENCE_END.finditer(text), None):
        end = match.end() if match else len(text)
        piece = text[start:end]
        inner = piece.strip()
        if inner:
            at = start + piece.index(inner)
            yield Piece(inner, at, at + len(inner))
        start = end
