"""Bugs of `tiermem/dialogue`: what people hand in, and what becomes of it."""

from tests.planted.bug import Bug

_ALL = ("tests/dialogue",)

BUGS = (
    Bug(
        name="a file read in before is not known by who spoke",
        file="tiermem/dialogue/identity.py",
        before='content = "\\x1f".join((turn.speaker, found["moment"] or "", turn.text))',
        after='content = "\\x1f".join((found["moment"] or "", turn.text))',
        found_by=("tests/api/test_files_again.py",),
        excuse="turns that versions of before stored under such ids are also known by their words, and erased "
        "ones by the room they took between their neighbours (`placing`)",
    ),
    Bug(
        name="a turn's id does not tell where it stands",
        file="tiermem/dialogue/identity.py",
        before='return f"@{position}" if turn.said_at is None else f"@{position} {turn.said_at.isoformat()}"',
        after='return "@1" if turn.said_at is None else f"@1 {turn.said_at.isoformat()}"',
        found_by=("tests/dialogue", "tests/api/test_files_again.py"),
    ),
    Bug(
        name="a name gives way to the role",
        file="tiermem/dialogue/messages.py",
        before='SPEAKER_KEYS = ("speaker", "name", "role")',
        after='SPEAKER_KEYS = ("role", "speaker", "name")',
        found_by=_ALL,
    ),
    Bug(
        name="a tool's result is dropped",
        file="tiermem/dialogue/messages.py",
        before='if answer is not None or "tool_result" in str(part.get("type", "")):',
        after="if answer is not None:",
        found_by=_ALL,
    ),
    Bug(
        name="a call beside words is dropped",
        file="tiermem/dialogue/messages.py",
        before='return "\\n".join((*said, *(_call(as_sent(call)) for call in called)))',
        after='return "\\n".join(said or tuple(_call(as_sent(call)) for call in called))',
        found_by=_ALL,
    ),
    Bug(
        name="midnight is noon",
        file="tiermem/dialogue/times.py",
        before="hour = hour % 12 + (12 if",
        after="hour = hour + (12 if hour < 12 and",
        found_by=_ALL,
    ),
    Bug(
        name="milliseconds are seconds",
        file="tiermem/dialogue/times.py",
        before="datetime.fromtimestamp(number / 1000 if abs(number) >= _MILLISECONDS_FROM else number, tz=UTC)",
        after="datetime.fromtimestamp(number, tz=UTC)",
        found_by=_ALL,
    ),
    Bug(
        name="a line that opens with blanks opens a turn",
        file="tiermem/dialogue/transcript.py",
        before="opening = None if indented else _opening(line)",
        after="opening = _opening(line.strip())",
        found_by=_ALL,
    ),
    Bug(
        name="a packed file may unpack to anything",
        file="tiermem/dialogue/packed.py",
        before="                if len(content) > MOST:",
        after="                if len(data) > MOST:",
        found_by=_ALL,
    ),
    Bug(
        name="the month comes first wherever days are small",
        file="tiermem/dialogue/formats/whatsapp.py",
        before='("month", "day") if _half_days(messages) else ("day", "month")',
        after='("month", "day")',
        found_by=_ALL,
    ),
    Bug(
        name="a chat with an answer on another branch reads both",
        file="tiermem/dialogue/formats/chatgpt.py",
        before='at = chat.get("current_node") or _last_leaf(nodes)',
        after="at = next(iter(nodes))",
        found_by=_ALL,
    ),
    Bug(
        name="a haystack with too few dates is read",
        file="tiermem/dialogue/longmemeval.py",
        before="    if len(haystack) != len(dates):\n",
        after="    if len(haystack) < len(dates):\n",
        found_by=("tests/dialogue", "tests/eval"),
    ),
    Bug(
        name="sessions of LoCoMo are in the order of their names",
        file="tiermem/dialogue/locomo.py",
        before="numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(str(key))))",
        after="numbers = sorted((found[1] for key in conversation if (found := _SESSION.fullmatch(str(key)))))",
        found_by=("tests/dialogue", "tests/eval"),
    ),
)
