"""Where examples come from, under what licence, and whether weights trained on them may be given away.

Weights are given away under the licence of this package, with the notices below. What is published for
non-commercial use, or without a licence, is there to measure with: weights that have seen it stay here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tiermem.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A set of data: its files below the folder of data, its licence, and what follows from that.

    What is `ours` was written for this and lies beside this file. Of conversations the share `measured` is
    measured on and not learned from.
    """

    name: str
    files: tuple[str, ...]
    licence: str
    may_ship: bool
    """Whether weights trained on it may be redistributed."""
    notice: str
    """Whom a notice beside the weights names, or why there must be no weights."""
    test_only: bool = False
    ours: bool = False
    measured: float = 0.5
    in_package: bool = True
    """Whether the reader of the package learns from it; else only a training that names it does."""

    def paths(self, data: Path) -> list[Path]:
        """Its files, where `data` is the folder of data."""
        folder = Path(__file__).parent if self.ours else data
        return [folder / name for name in self.files]


_ALL: Final = (
    Source(
        name="squad",
        files=("reading/squad_dev_all.json.xz",),
        licence="CC BY-SA 4.0",
        may_ship=True,
        notice="SQuAD 1.1 and 2.0, Rajpurkar et al.; questions on Wikipedia",
    ),
    Source(
        name="squad2",
        files=("squad2/dev-v2.0_cs224n_6078.json.gz",),
        licence="CC BY-SA 4.0",
        may_ship=False,
        notice="the test: nothing is trained on it",
        test_only=True,
    ),
    Source(
        name="friendsqa",
        files=("reading/friendsqa_dev.json.xz", "reading/friendsqa_tst.json.xz"),
        licence="Apache-2.0",
        may_ship=True,
        notice="FriendsQA, Yang and Choi, Emory NLP",
    ),
    Source(
        name="qamr",
        files=(
            "reading/qamr_filtered_dev.tsv.xz",
            "reading/qamr_filtered_test.tsv.xz",
            "reading/qamr_wiki_sentences.tsv.xz",
        ),
        licence="MIT",
        may_ship=True,
        notice="QAMR, Michael et al., University of Washington",
    ),
    Source(
        name="nq",
        files=("answerability/nq-open-oracle.jsonl.gz",),
        licence="MIT; Natural Questions CC BY-SA 3.0",
        may_ship=True,
        notice="Natural Questions, Kwiatkowski et al., as packed by Liu et al.",
    ),
    Source(
        name="clapnq",
        files=(
            "answerability/clapnq_dev_answerable.jsonl.gz",
            "answerability/clapnq_dev_unanswerable.jsonl.gz",
        ),
        licence="Apache-2.0",
        may_ship=True,
        notice="CLAP NQ, Rosenthal et al., IBM",
    ),
    Source(
        name="longmemeval",
        files=("longmemeval/longmemeval_oracle_dev100.json.xz",),
        licence="MIT",
        may_ship=True,
        notice="LongMemEval, Wu et al.",
    ),
    Source(
        name="locomo",
        files=("locomo/locomo_dev7.json",),
        licence="CC BY-NC 4.0",
        may_ship=False,
        notice="non-commercial: to measure with",
    ),
    Source(
        name="locomo-facts",
        files=("locomo/model_facts",),
        licence="CC BY-NC 4.0, made from LoCoMo",
        may_ship=False,
        notice="non-commercial: to measure with",
    ),
    Source(
        name="realtalk",
        files=("realtalk/realtalk_dev5.tar.xz",),
        licence="none stated",
        may_ship=False,
        notice="real people's chats without a licence: to measure with",
    ),
    Source(
        name="beam",
        files=("beam/beam_100k_dev10.tar.xz",),
        licence="none stated",
        may_ship=False,
        notice="no licence file: to measure with",
    ),
    Source(
        name="written",
        files=("written",),
        licence="Apache-2.0",
        may_ship=True,
        notice="conversations written for TierMem by a language model",
        ours=True,
        measured=0.1,
    ),
    Source(
        name="changes",
        files=("changes",),
        licence="Apache-2.0",
        may_ship=True,
        notice="conversations about facts that change, written for TierMem by a language model",
        ours=True,
        measured=0.1,
        in_package=False,
    ),
)
SOURCES: Final[Mapping[str, Source]] = {one.name: one for one in _ALL}


def learned_in_package() -> tuple[str, ...]:
    """The sources that the reader of the package learns from."""
    return tuple(one.name for one in _ALL if one.may_ship and one.in_package)


def to_measure_with(trained_on: Iterable[str]) -> tuple[str, ...]:
    """Those of `trained_on` that forbid giving weights away; `InvalidInput` for a source there is not."""
    names = tuple(dict.fromkeys(trained_on))
    unknown = [name for name in names if name not in SOURCES]
    if unknown:
        raise InvalidInput(f"no source {', '.join(map(repr, unknown))}; there are: {', '.join(SOURCES)}")
    return tuple(name for name in names if not SOURCES[name].may_ship)


def check_may_ship(trained_on: Iterable[str]) -> None:
    """Refuse, with `InvalidInput`, to give away weights that saw data which is there to measure with."""
    refused = to_measure_with(trained_on)
    if refused:
        told = "; ".join(f"{name} ({SOURCES[name].licence}): {SOURCES[name].notice}" for name in refused)
        raise InvalidInput(f"these weights may not be given away, for they were trained on {told}")
