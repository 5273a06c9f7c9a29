"""Expressions for the values of attributes, by kind. All repetition is bounded."""

from __future__ import annotations

from collections.abc import Mapping

from tiermem.text.words import word_list

_UPPER = "A-Z" + "".join(
    chr(code) for code in (*range(0xC0, 0x250), *range(0x370, 0x530)) if chr(code).isupper()
)
PART = rf"(?<!\w)[{_UPPER}][\w'’]{{0,40}}(?:-\w{{1,40}}){{0,3}}"
"""One word of a name, which may end with a possessive."""
_TIMES = r"%|years?|months?|weeks?|days?|hours?|minutes?|mins?"
TITLE = r"(?:(?:Dr|Prof|Professor|Mr|Mrs|Ms|Miss|St|Sir|Doctor)\.? )"
_NAME = rf"{TITLE}?{PART}(?: (?:{PART}|\d{{1,4}}\b(?!\s?(?:{_TIMES})))){{0,4}}"
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SPOKEN = rf"\b(?:(?:{_TENS})(?:[- ](?:{_ONES}))?|{_TEENS}|{_ONES})\b(?!\s(?:of|times|more|or|a)\b)"
_FIGURE = r"(?<![\w.,:/-])\d{1,9}(?:[.,]\d{1,3}){0,3}"
_NO_UNIT = (
    rf"(?!\w|[.,:/]\d|\s?(?:{_TIMES}|yrs?|hrs?|people|times|km|miles|kilos|kg|o['’]clock|[ap]\.?m\b|st\b|nd\b|rd\b|"
    r"th\b|over\b|more\b|less\b|off\b|of them\b))"
)
_MONEY = r"(?:\s?(?:k|grand|euros?|dollars?|pounds?|quid|bucks|€|£|\$|CHF|kr)\b)?"
_WEIGHED = r"\s?(?:mg|mcg|µg|micrograms?|milligrams?|ml|units?|tablets?|drops|puffs)\b"
_NO_PHRASE = "|".join(word_list("at in for from since and now but with so on of the a an to as"))
_HOUR = rf"(?:{_ONES}|ten|eleven|twelve|\d{{1,2}})"

KINDS: Mapping[str, str] = {
    "person": _NAME,
    "name": _NAME,
    "place": _NAME,
    "plan": rf"(?:{_NAME}|\b(?:free|basic|standard|premium|family|student|pro|unlimited|annual|monthly)\b)",
    "address": rf"(?<!\w)\d{{1,5}}[a-z]? {PART}(?: {PART}){{1,4}}",
    "amount": rf"[$€£]?{_FIGURE}{_MONEY}{_NO_UNIT}",
    "price": r"(?:(?<![\w.,:/-])\d{1,5}[.,]\d\d(?!\w|[.,]\d)|[$€£]\d{1,6}(?:[.,]\d\d)?)",
    "number": rf"(?:{_FIGURE}{_NO_UNIT}|{_SPOKEN})",
    "dose": rf"(?:{_FIGURE}{_WEIGHED}|{_FIGURE}{_NO_UNIT}|{_SPOKEN})",
    "weighed dose": rf"(?:{_FIGURE}{_WEIGHED})",
    "phrase": rf"(?:(?!(?:{_NO_PHRASE})\b)[\w-]{{1,30}}\s?){{1,4}}(?<=\w)",
    "day": r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b",
    "clock": rf"\b(?:\d{{1,2}}(?:[:.]\d\d)?\s?[ap]\.?m\b|\d{{1,2}}[:.]\d\d(?![\d.])|half (?:past )?{_HOUR}\b|"
    rf"noon\b|midnight\b|{_HOUR}\b(?!\s?(?:{_TIMES}|people|of|the|least)\b|[.,:]\d))",
    "weight": r"\b\d{2,3}(?:[.,]\d)?\s?(?:kg|kilos?|lbs?|pounds|stone)\b",
    "code": r"(?<![\w!@#$%&-])(?=[\w!@#$%&-]{0,40}\d)[\w!@#$%&-]{3,40}|\"[^\"]{3,40}\"",
    "level": r"\b[ABC][12]\b",
    "phone": r"(?<![\w+])\+?\d[\d ()/.-]{5,18}\d(?!\w)",
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,5}",
}
"""Values of "price" and "weighed dose" state a price or a dose without any phrase."""
ANY_CASE = frozenset({"word", "number", "dose", "day", "clock", "phrase", "weight"})
"""Kinds whose letters may be of either case."""
