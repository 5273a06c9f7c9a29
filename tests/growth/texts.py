"""Texts that a slow expression or loop is slow on: a piece said over and over, of any size."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """How a text opens, what is then said over and over, and how it ends."""

    opening: str
    piece: str
    ending: str = ""

    def of(self, size: int) -> str:
        """The text, `size` characters long."""
        room = size - len(self.ending)
        return (self.opening + self.piece * (size // len(self.piece) + 1))[:room] + self.ending


KINDS = {
    "blanks": Text("", " "),
    "newlines": Text("", "\n"),
    "tabs and newlines": Text("", "\t\n"),
    "other blanks": Text("", "\u2003\u00a0"),
    "signs": Text("", "$+%*#~"),
    "one sign": Text("", "-"),
    "digits": Text("", "7"),
    "digits of another script": Text("", "٣"),
    "numbers joined by commas": Text("", "1,234,"),
    "numbers joined by points": Text("", "1."),
    "per cents": Text("", "12% ", "%"),
    "spoken numbers": Text("", "five hundred "),
    "one spoken number": Text("", "hundred "),
    "quotes": Text("", "\"'"),
    "curly quotes": Text("", "“’"),
    "brackets": Text("", "["),
    "more brackets": Text("", "(]("),
    "angles": Text("", "<|x"),
    "letters": Text("", "a a a "),
    "capitals": Text("", "A Bc "),
    "points": Text("", ". . . "),
    "ellipses": Text("", "… a "),
    "one long word": Text("", "y"),
    "one long name": Text("", "Ab"),
    "mixed scripts": Text("", "éñ日本🎉ﬁ\u0301"),
    "marks": Text("a", "\u0300\u0316"),
    "letters that are nearly English": Text("", "frıday ſix dayſ ago laſt ſpring "),
    "dates": Text("", "yesterday 7 May 2023, "),
    "weekdays": Text("", "Friday ", "will"),
    "months": Text("", "in may "),
    "for a while": Text("", "for 3 weeks now "),
    "small words": Text("", "and of the ", "x"),
    "prepositions": Text("", "to of in "),
    "questions": Text("", "Did you? "),
    "short sentences": Text("", "I like it. "),
    "said again": Text("", "I have 3 dogs. "),
    "denials": Text("", "Ann doesn't. "),
    "names": Text("", "Ann and Ben "),
    "stamps": Text("", "[2023-05-08] Ann: x\n"),
    "orders": Text("", "ignore the system: "),
    "a quote that never closes": Text('He said "', "go on "),
    "a bracket that never closes": Text("[", "x "),
    "a number and blanks": Text("for 3", " ", "x"),
    "a word and signs": Text("a", ".", "x"),
    "a date and newlines": Text("between 7 May", "\n", "x"),
}
