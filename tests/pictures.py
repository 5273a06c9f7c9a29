"""What a picture of a terminal says, to be held to what is printed."""

import html
import re

VARYING = re.compile(
    r"\bt1:\d+-\w+|\b[pouam]\d?:\w+…?"
    r"|\b\d{4}-\d\d-\d\d(?:[ T][\d:.+]+)?|\b\d+\.\d+\b|\S*/(?=tiermem )|[─│╭╮╰╯━┃«»…]"
)


def words(shown: str) -> list[str]:
    """What is shown but for ids, moments, seconds, scores, folders, frames and marks."""
    return VARYING.sub(" ", re.sub(r"\x1b\[\d+m", "", shown).replace("\N{NO-BREAK SPACE}", " ")).split()


def in_picture(drawn: str) -> str:
    """The words of a picture, line by line; quotes are coloured in it."""
    return html.unescape(" ".join(re.findall(r"<text [^>]*>([^<]*)</text>", drawn)))
