"""Bugs of `tiermem/dialogue`: what people hand in, and what becomes of it."""

from tests.planted.bug import Bug

_ALL = ("tests/dialogue",)

BUGS = (
    Bug(
        name="a file read in before is not known by who spoke",
        file="tiermem/dialogue/identity.py",
        function="alternatives",
        before='turn.speaker, found["moment"] or "", turn.text',
        after='found["moment"] or "", turn.text',
        found_by=("tests/api/test_files_again.py",),
        excuse="turns that versions of before stored under such ids are also known by their words, and erased "
        "ones by the room they took between their neighbours (`placing`)",
    ),
    Bug(
        name="a turn's id does not tell where it stands",
        file="tiermem/dialogue/identity.py",
        function="_place",
        before='f"@{position}" if turn.said_at is None else f"@{position} {turn.said_at.isoformat()}"',
        after='"@1" if turn.said_at is None else f"@1 {turn.said_at.isoformat()}"',
        found_by=("tests/dialogue", "tests/api/test_files_again.py"),
    ),
    Bug(
        name="a name gives way to the role",
        file="tiermem/dialogue/messages.py",
        function="",
        before='"speaker", "name", "role"',
        after='"role", "speaker", "name"',
        found_by=_ALL,
    ),
    Bug(
        name="a tool's result is dropped",
        file="tiermem/dialogue/messages.py",
        function="_part",
        before='answer is not None or "tool_result" in str(part.get("type", ""))',
        after="answer is not None",
        found_by=_ALL,
    ),
    Bug(
        name="a call beside words is dropped",
        file="tiermem/dialogue/messages.py",
        function="_words",
        before="*said, *(_call(as_sent(call)) for call in called)",
        after="said or tuple(_call(as_sent(call)) for call in called)",
        found_by=_ALL,
    ),
    Bug(
        name="midnight is noon",
        file="tiermem/dialogue/times.py",
        function="_clock",
        before='hour % 12 + (12 if found["half"].lower().startswith("p") else 0)',
        after='hour + (12 if hour < 12 and found["half"].lower().startswith("p") else 0)',
        found_by=_ALL,
    ),
    Bug(
        name="milliseconds are seconds",
        file="tiermem/dialogue/times.py",
        function="_from_epoch",
        before="number / 1000 if abs(number) >= _MILLISECONDS_FROM else number",
        after="number",
        found_by=_ALL,
    ),
    Bug(
        name="a line that opens with blanks opens a turn",
        file="tiermem/dialogue/transcript.py",
        function="_read_line",
        before="None if indented else _opening(line)",
        after="_opening(line.strip())",
        found_by=_ALL,
    ),
    Bug(
        name="a packed file may unpack to anything",
        file="tiermem/dialogue/packed.py",
        function="read_unpacked",
        before="before + len(content) > MOST",
        after="before + len(piece) > MOST",
        found_by=_ALL,
    ),
    Bug(
        name="the month comes first wherever days are small",
        file="tiermem/dialogue/formats/whatsapp.py",
        function="_order",
        before='("month", "day") if _half_days(messages) else ("day", "month")',
        after='"month", "day"',
        found_by=_ALL,
    ),
    Bug(
        name="a chat with an answer on another branch reads both",
        file="tiermem/dialogue/formats/chatgpt.py",
        function="_branch",
        before='chat.get("current_node") or _last_leaf(nodes)',
        after="next(iter(nodes))",
        found_by=_ALL,
    ),
    Bug(
        name="a haystack with too few dates is read",
        file="tiermem/dialogue/longmemeval.py",
        function="_sessions",
        before="len(haystack) != len(dates)",
        after="len(haystack) < len(dates)",
        found_by=("tests/dialogue", "tests/eval"),
    ),
    Bug(
        name="sessions of LoCoMo are in the order of their names",
        file="tiermem/dialogue/locomo.py",
        function="_sample",
        before="int(found[1])",
        after="found[1]",
        found_by=("tests/dialogue", "tests/eval"),
    ),
)
