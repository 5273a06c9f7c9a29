"""Checks a bundle with nothing but the bundle, and a checkpoint where one was kept: no log, no trust.

What is checked, in this order: that the file is as it was written; that the checkpoint is the one kept
elsewhere, or grew from it; that the answer's record is in the tree it commits to; that each cited page is,
and that its id is made of the hashes of its turns; that the words cited are in those turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pagestore.bundle.build import ANSWER_KIND, answer_shown, spans_of, with_offsets
from pagestore.bundle.layout import Malformed, decode
from pagestore.bundle.values import Bundle, BundleReport
from pagestore.bundle.words import (
    ShownPage,
    ShownTurn,
    Words,
    Wrong,
    cut,
    cut_out,
    same_moment,
    shown_turn,
)
from pagestore.codec import open_page_id, page_id
from pagestore.line import Fields
from pagestore.line import decode as decode_line
from pagestore.merkle import leaf_hash, verify_consistency, verify_inclusion
from pagestore.prover import as_bytes
from pagestore.unicode import replace_surrogates
from pagestore.values import Checkpoint, Damage, GrowthProof, ProvedPage, ProvedRecord

_ODD = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)
"""What fields of the wrong shape raise: a forger may put anything into a record."""


def verify_bundle(data: bytes, checkpoint: Checkpoint | None = None) -> BundleReport:
    """Check the bytes of a bundle file, offline, against a checkpoint kept elsewhere where there is one.

    Never raises: what is wrong is in `failed`, with its place; what cannot be decided is in
    `unproved`.
    """
    try:
        bundle = decode(data)
    except Malformed as error:
        return BundleReport(space="", checkpoint=None, proved=(), unproved=(), failed=error.damage)
    check = _Check(bundle)
    check.everything(checkpoint)
    return BundleReport(
        space=bundle.space,
        checkpoint=bundle.checkpoint,
        proved=tuple(check.proved),
        unproved=tuple(check.unproved),
        failed=tuple(check.failed),
    )


def verify_growth(proof: GrowthProof) -> bool:
    """Whether what `proof.old` commits to is the beginning of what `proof.new` commits to."""
    old, new = proof.old, proof.new
    path = [bytes.fromhex(node) for node in proof.path]
    return old.space == new.space and verify_consistency(
        old.size, new.size, bytes.fromhex(old.root), bytes.fromhex(new.root), path
    )


def _leaf(record: ProvedRecord, checkpoint: Checkpoint) -> Fields | None:
    """The fields of a record that is in the tree of a checkpoint; `None` for any other."""
    raw, proof = as_bytes(record.line), record.proof
    path = [bytes.fromhex(node) for node in proof.path]
    is_included = verify_inclusion(
        leaf_hash(raw), proof.index, checkpoint.size, path, bytes.fromhex(checkpoint.root)
    )
    return decode_line(raw) if is_included else None


class _Check:
    """One check of one bundle."""

    def __init__(self, bundle: Bundle) -> None:
        self.proved: list[str] = []
        self.unproved: list[str] = []
        self.failed: list[Damage] = []
        self._bundle = bundle
        self._pages: dict[str, ShownPage] = {}

    def everything(self, kept: Checkpoint | None) -> None:
        """Every check, in order; a failed one does not hide the next."""
        self._try("the checkpoint", lambda: self._checkpoint(kept))
        self._try("the record of the answer", self._record)
        for number, page in enumerate(self._bundle.pages, start=1):
            self._try(f"page {number}", lambda page=page: self._page(page))  # type: ignore[misc]  # bound now
        self._quotations()
        if self._bundle.signature is not None:
            self.unproved.append(
                f"the signature by key {self._bundle.signature.key[:16]}… is checked with the key, not here"
            )
        self.unproved.append(
            "that the answer is right, and that times and names are true: proofs show what was recorded"
        )

    def _try(self, where: str, step: Callable[[], None]) -> None:
        try:
            step()
        except Wrong as error:
            self.failed.append(Damage(where=where, what=str(error)))
        except _ODD as error:
            self.failed.append(Damage(where=where, what=f"it does not have the form it should: {error!r}"))

    def _checkpoint(self, kept: Checkpoint | None) -> None:
        bound, growth = self._bundle.checkpoint, self._bundle.growth
        if bound.space != self._bundle.space:
            raise Wrong(f"it is of space {bound.space!r}, the bundle of {self._bundle.space!r}")
        if growth is not None and not verify_growth(growth):
            raise Wrong(f"the proof of growth from {growth.old.size} records does not hold")
        if kept is None:
            self.unproved.append(
                f"that the checkpoint ({_checkpoint_text(bound)}) is the one others were shown: "
                "compare it with one kept elsewhere"
            )
        elif kept == bound:
            self.proved.append(
                f"the bundle is bound to the checkpoint kept elsewhere ({_checkpoint_text(kept)})"
            )
        elif growth is not None and kept == growth.old:
            self.proved.append(
                f"the log grew from the checkpoint kept elsewhere ({_checkpoint_text(kept)}) to that "
                f"of the bundle ({_checkpoint_text(bound)}); no record or sealed page before it was changed"
            )
        else:
            raise Wrong(
                f"it ({_checkpoint_text(bound)}) is not the one kept elsewhere ({_checkpoint_text(kept)}), "
                "and not proved to grow from it"
            )

    def _record(self) -> None:
        fields = self._leaf(self._bundle.record)
        if (fields["t"], fields.get("n")) != ("rec", ANSWER_KIND):
            raise Wrong(f"it is no answer but a record of type {fields.get('n', fields['t'])!r}")
        logged = fields["b"]
        if logged["answer"]["space"] != self._bundle.space:
            raise Wrong(f"it is an answer of space {logged['answer']['space']!r}")
        if answer_shown(logged) != dict(self._bundle.answer):
            raise Wrong("the answer shown is not the one that was recorded")
        index, size = self._bundle.record.proof.index, self._bundle.checkpoint.size
        self.proved.append(
            f"the answer {cut(self._bundle.answer['text'])!r} was recorded at {fields['at']} as record "
            f"{fields['q']}, leaf {index} of {size}"
        )
        graded = logged["answer"]["support"]
        if graded is not None:
            self.proved.append(f"it was recorded as {graded!r} by the words it cites")
        if graded == "worded":
            self.unproved.append(
                "that the words cited say what the answer says: its wording was not confirmed"
            )

    def _page(self, page: ProvedPage) -> None:
        seal = self._leaf(page.seal)
        if seal["t"] != "page":
            raise Wrong(f"its seal is no seal but a record of type {seal['t']!r}")
        hashes = [bytes.fromhex(turn.digest) for turn in page.turns]
        made = page_id(self._bundle.space, seal["s"], seal["p"], hashes)
        if not made == seal["id"] == page.id:
            raise Wrong(f"its id {page.id!r} is not made of these turns")
        turns = tuple(
            shown_turn(n, start, turn, seal["s"])
            for n, (start, turn) in enumerate(with_offsets(page.turns), 1)
        )
        checked = ShownPage(number=seal["p"], session=seal["s"], turns=turns)
        opened = open_page_id(self._bundle.space, seal["s"], seal["p"], seal.get("g"))
        self._pages[page.id] = self._pages[opened] = checked
        proof = page.seal.proof
        self.proved.append(
            f"page {seal['p']} of session {seal['s']!r} ({page.id[:15]}…) was sealed at {seal['at']} "
            f"with these {len(turns)} turns as record {seal['q']}, leaf {proof.index} of {proof.size}"
        )
        shown = [n for n, turn in enumerate(turns) if turn.text is not None]
        unseen = sum(turn.text is None for turn in turns[: max(shown, default=0)])
        if unseen:
            self.unproved.append(
                f"where on page {seal['p']} of session {seal['s']!r} the words stand to the character: "
                f"{unseen} turns before them are not shown, and their lengths are taken from the bundle"
            )

    def _leaf(self, record: ProvedRecord) -> Fields:
        """The fields of a record that is in the tree of the checkpoint."""
        fields = decode_line(as_bytes(record.line))
        if fields is None:
            raise Wrong("its checksum does not agree")
        if _leaf(record, self._bundle.checkpoint) is None:
            raise Wrong("it is not in the tree of the checkpoint, as its proof claims")
        return fields

    def _quotations(self) -> None:
        answer = self._bundle.answer
        for kind, check in (("citations", self._citation), ("facts", self._fact)):
            found = answer.get(kind)
            if not isinstance(found, list):
                self.failed.append(Damage(where=f"the {kind}", what="there is no list of them"))
                continue
            for number, one in enumerate(found, start=1):
                where = f"{kind.removesuffix('s')} {number}"
                self._try(where, lambda one=one, where=where, check=check: check(where, one))  # type: ignore[misc]  # bound now

    def _citation(self, where: str, citation: Mapping[str, Any]) -> None:
        """The exact words, and who said them when."""
        words = self._words(where, citation)
        if words is None:
            return
        if replace_surrogates(words.text) != citation["quote"]:
            raise Wrong(f"the words there are {cut(words.text)!r}, not {cut(citation['quote'])!r}")
        speaker, said_at = words.said_by()
        if speaker is not None and citation["speaker"] != speaker:
            raise Wrong(f"they were said by {speaker!r}, not {citation['speaker']!r}")
        if not same_moment(citation["said_at"], said_at):
            raise Wrong(f"they were said at {said_at}, not {citation['said_at']}")
        self.proved.append(
            f"[{citation['number']}] {cut(words.text)!r} are the words of {words.turn_in_words()}"
        )

    def _fact(self, where: str, fact: Mapping[str, Any]) -> None:
        """A fact quotes what was said, so letters and digits count, and spacing, case and marks do not."""
        words = self._words(where, fact)
        if words is None:
            return
        claim, quotes = cut(fact["claim"]), tuple(fact["quotes"])
        if not words.spelled_by(quotes):
            raise Wrong(f"the words there are {cut(words.text)!r}, not {cut(' … '.join(quotes))!r}")
        if fact["support"] == "worded":
            self.unproved.append(
                f"the fact {claim!r}: {cut(words.text)!r} are the words of {words.turn_in_words()}; "
                "its wording was not confirmed"
            )
        else:
            self.proved.append(f"the fact {claim!r} quotes words of {words.turn_in_words()}")

    def _words(self, where: str, quotation: Mapping[str, Any]) -> Words | None:
        """The text at the spans of a quotation; `None` where it was erased."""
        spans = spans_of(quotation)
        if not spans:
            raise Wrong("it names no place on any page")
        turns: list[tuple[ShownPage, ShownTurn]] = []
        texts: list[str] = []
        for span in spans:
            page = self._pages.get(span.page_id)
            if page is None:
                raise Wrong(f"its page {span.page_id!r} is not in the bundle, or not proved")
            touched = page.touched_turns(span)
            if any(turn.evidence.erased for turn in touched):
                self.unproved.append(f"{where}: its words were erased; that a turn stood there is proved")
                return None
            if quotation.get("quote") == "" and any(turn.text is None for turn in touched):
                self.unproved.append(
                    f"{where}: its words are withheld; that they stood on page {page.number} of session "
                    f"{page.session!r} when it was sealed is proved"
                )
                return None
            texts.append(cut_out(touched, span))
            turns += [(page, turn) for turn in touched]
        return Words(tuple(texts), tuple(turns))


def _checkpoint_text(checkpoint: Checkpoint) -> str:
    return f"{checkpoint.size} records of space {checkpoint.space!r}, root {checkpoint.root[:12]}…"
