"""Bugs of `tiermem/index`: what is found, and how alike."""

from tests.planted.bug import Bug

_ALL = ("tests/index",)

BUGS = (
    Bug(
        name="equal scores are ordered by chance",
        file="tiermem/index/fusion.py",
        function="ranked",
        before="-round(hit[1], _DIGITS), hit[0]",
        after="-round(hit[1], _DIGITS)",
        found_by=("tests/index/test_fusion.py", *_ALL),
    ),
    Bug(
        name="equal scores do not share a place",
        file="tiermem/index/fusion.py",
        function="places",
        before="round(score, _DIGITS) != last",
        after="score >= 0",
        found_by=("tests/index/test_fusion.py", *_ALL),
    ),
    Bug(
        name="meaning counts as much as words",
        file="tiermem/index/fusion.py",
        function="",
        before="WORDS_WEIGHT = 2.0",
        after="WORDS_WEIGHT = 1.0",
        found_by=("tests/index/test_fusion.py", "tests/index", "tests/reading"),
    ),
    Bug(
        name="half a surrogate pair breaks an entry",
        file="tiermem/text/unicode.py",
        function="join_surrogates",
        before='text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")',
        after="text",
        found_by=("tests/text/test_unicode.py", *_ALL),
    ),
    Bug(
        name="pieces of a long text overrun",
        file="tiermem/index/encoding.py",
        function="pieces",
        before="len(current) + len(part)",
        after="len(current)",
        found_by=("tests/index/test_encoding.py", *_ALL),
    ),
    Bug(
        name="the last piece of a text is lost",
        file="tiermem/index/encoding.py",
        function="pieces",
        before="""
            found.append(current)
            return [piece.strip() for piece in found if piece.strip()][:PIECES]
        """,
        after="return [piece.strip() for piece in found if piece.strip()][:PIECES]",
        found_by=("tests/index/test_encoding.py", *_ALL),
    ),
    Bug(
        name="a scene weighs as much as the text",
        file="tiermem/index/bm25.py",
        function="unit_terms",
        before="SCENE * weight",
        after="weight",
        found_by=("tests/index/test_bm25.py", *_ALL),
    ),
    Bug(
        name="a name that is all of a question leaves nothing to look for",
        file="tiermem/index/bm25.py",
        function="query_stems",
        before="[stem for stem in found if stem not in left_out] or found",
        after="[stem for stem in found if stem not in left_out]",
        found_by=("tests/index/test_bm25.py", *_ALL),
    ),
    Bug(
        name="names that differ by a percent sign are one",
        file="tiermem/index/encoding.py",
        function="key",
        before='" !#$&\'()*+,/:;=?@[]"',
        after='" !#$%&\'()*+,/:;=?@[]"',
        found_by=("tests/index/test_encoding.py", *_ALL),
    ),
    Bug(
        name="of entries with one id the first counts",
        file="tiermem/index/engine.py",
        function="ProjectedIndex.put",
        before="{entry.id: entry for entry in entries}",
        after="{entry.id: entry for entry in reversed(entries)}",
        found_by=("tests/index/test_memory.py", *_ALL),
    ),
    Bug(
        name="kept vectors are those of another text",
        file="tiermem/index/engine.py",
        function="ProjectedIndex._embedded",
        before="zip(texts, embedded, strict=True)",
        after="zip(sorted(texts), embedded, strict=True)",
        found_by=("tests/index/test_memory.py", *_ALL),
    ),
    Bug(
        name="vectors are kept without end",
        file="tiermem/index/newest.py",
        function="Newest.put",
        before="""
            while len(self._held) > most:
                self._held.pop(next(iter(self._held)))
        """,
        after="",
        found_by=("tests/index/test_memory.py", *_ALL),
    ),
    Bug(
        name="dropping a space leaves its mark",
        file="tiermem/index/engine.py",
        function="ProjectedIndex.drop",
        before="await self._call(self._forget_mark, space)",
        after="",
        found_by=("tests/index/test_memory.py", "tests/index", "tests/writing"),
    ),
    Bug(
        name="one result more than asked for",
        file="tiermem/index/engine.py",
        function="ProjectedIndex._by_one",
        before="ranked(self._find(collection, allowed, [probe], limit + SLACK)[0])[:limit]",
        after="ranked(self._find(collection, allowed, [probe], limit + SLACK)[0])[: limit + 1]",
        found_by=("tests/index/test_memory.py", *_ALL),
    ),
    Bug(
        name="a package takes the place of a part of ours",
        file="tiermem/named.py",
        function="Registry._brought",
        before="[point for point in entry_points(group=self.group) if point.name not in ours]",
        after="[point for point in entry_points(group=self.group)]",
        found_by=("tests/test_brought.py",),
    ),
    Bug(
        name="document frequencies are those of the whole space, also where owners are named",
        file="tiermem/index/engine.py",
        function="PointFilter.corpus",
        before='whole_space(self.match["space"], self.owners)',
        after='whole_space(self.match["space"])',
        found_by=("tests/index/test_memory.py", "tests/api/test_private_words.py"),
    ),
    Bug(
        name="a rare term counts as much as a common one",
        file="tiermem/index/bm25.py",
        function="rarity",
        before="math.log(1 + (entries - holders + 0.5) / (holders + 0.5))",
        after="1.0",
        found_by=("tests/index/test_bm25.py", *_ALL),
    ),
)
