"""Bugs of `tiermem/index`: what is found, and how alike."""

from tests.planted.bug import Bug

_ALL = ("tests/index",)

BUGS = (
    Bug(
        name="equal scores are ordered by chance",
        file="tiermem/index/fusion.py",
        before="key=lambda hit: (-round(hit[1], _DIGITS), hit[0])",
        after="key=lambda hit: -round(hit[1], _DIGITS)",
        found_by=("tests/index/test_fusion.py", *_ALL),
    ),
    Bug(
        name="equal scores do not share a place",
        file="tiermem/index/fusion.py",
        before="        if round(score, _DIGITS) != last:\n",
        after="        if score >= 0:\n",
        found_by=("tests/index/test_fusion.py", *_ALL),
    ),
    Bug(
        name="meaning counts as much as words",
        file="tiermem/index/fusion.py",
        before="WORDS_WEIGHT = 2.0",
        after="WORDS_WEIGHT = 1.0",
        found_by=("tests/index/test_fusion.py", "tests/index", "tests/reading"),
    ),
    Bug(
        name="half a surrogate pair breaks an entry",
        file="tiermem/text/unicode.py",
        before='return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")',
        after="return text",
        found_by=("tests/text/test_unicode.py", *_ALL),
    ),
    Bug(
        name="pieces of a long text overrun",
        file="tiermem/index/encoding.py",
        before="if current and len(current) + len(part) > PIECE:",
        after="if current and len(current) > PIECE:",
        found_by=("tests/index/test_encoding.py", *_ALL),
    ),
    Bug(
        name="the last piece of a text is lost",
        file="tiermem/index/encoding.py",
        before="    found.append(current)\n    return [piece.strip()",
        after="    return [piece.strip()",
        found_by=("tests/index/test_encoding.py", *_ALL),
    ),
    Bug(
        name="a scene weighs as much as the text",
        file="tiermem/index/bm25.py",
        before="weights.setdefault(term, SCENE * weight)",
        after="weights.setdefault(term, weight)",
        found_by=("tests/index/test_bm25.py", *_ALL),
    ),
    Bug(
        name="a name that is all of a question leaves nothing to look for",
        file="tiermem/index/bm25.py",
        before="return [stem for stem in found if stem not in left_out] or found",
        after="return [stem for stem in found if stem not in left_out]",
        found_by=("tests/index/test_bm25.py", *_ALL),
    ),
    Bug(
        name="names that differ by a percent sign are one",
        file="tiermem/index/encoding.py",
        before="""return quote(name, safe=" !#$&'()*+,/:;=?@[]", errors="surrogatepass")""",
        after="""return quote(name, safe=" !#$%&'()*+,/:;=?@[]", errors="surrogatepass")""",
        found_by=("tests/index/test_encoding.py", *_ALL),
    ),
    Bug(
        name="of entries with one id the first counts",
        file="tiermem/index/engine.py",
        before="latest = list({entry.id: entry for entry in entries}.values())",
        after="latest = list({entry.id: entry for entry in reversed(entries)}.values())",
        found_by=("tests/index/test_memory.py", *_ALL),
    ),
    Bug(
        name="kept vectors are those of another text",
        file="tiermem/index/engine.py",
        before="return dict(zip(texts, embedded, strict=True))",
        after="return dict(zip(sorted(texts), embedded, strict=True))",
        found_by=("tests/index/test_memory.py", *_ALL),
    ),
    Bug(
        name="vectors are kept without end",
        file="tiermem/index/newest.py",
        before="            while len(self._held) > most:\n                self._held.pop(next(iter(self._held)))\n",
        after="",
        found_by=("tests/index/test_memory.py", *_ALL),
    ),
    Bug(
        name="dropping a space leaves its mark",
        file="tiermem/index/engine.py",
        before="""        self._kept.clear()
        await self._call(self._forget_mark, space)
""",
        after="        self._kept.clear()\n",
        found_by=("tests/index/test_memory.py", "tests/index", "tests/writing"),
    ),
    Bug(
        name="one result more than asked for",
        file="tiermem/index/engine.py",
        before="order = ranked(self._find(collection, allowed, [probe], limit + SLACK)[0])[:limit]",
        after="order = ranked(self._find(collection, allowed, [probe], limit + SLACK)[0])[: limit + 1]",
        found_by=("tests/index/test_memory.py", *_ALL),
    ),
    Bug(
        name="a package takes the place of a part of ours",
        file="tiermem/named.py",
        before="for point in entry_points(group=self.group) if point.name not in ours]",
        after="for point in entry_points(group=self.group)]",
        found_by=("tests/test_brought.py",),
    ),
    Bug(
        name="a rare term counts as much as a common one",
        file="tiermem/index/bm25.py",
        before="return math.log(1 + (entries - holders + 0.5) / (holders + 0.5))",
        after="return 1.0",
        found_by=("tests/index/test_bm25.py", *_ALL),
    ),
)
