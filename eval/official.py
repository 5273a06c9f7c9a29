"""What LongMemEval's own scripts read: answers for its judge, and what was found for its reader.

`src/evaluation/evaluate_qa.py` judges answers, one a line of JSON with `question_id` and `hypothesis`.
`src/generation/run_generation.py` has a model read what was found: the data, with `retrieval_results` in each
question. A `corpus_id` there is the name of a session, or that and the number of a turn, from 1.

No system is given the names of sessions, of which those with evidence begin with "answer". They are put in
here, after the run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Literal

from eval.datasets import LongMemEval
from eval.datasets.files import read_json
from eval.folder import Kind, RunFolder
from eval.records import Retrieved
from eval.types import Case, Passage, Result
from tiermem.errors import InvalidInput

Documents = Literal["turn", "session"]


def write_answers(folder: RunFolder, system: str, out: Path) -> int:
    """Write the answers of a run of `qa` for the judge; returns how many there are.

    An abstention says that this is not known, and why. Raises `InvalidInput` for another run, and for one
    under other names than those of the data.
    """
    _check_run(folder, "qa")
    lines = [
        {"question_id": one.question, "hypothesis": _hypothesis(one)}
        for one in folder.records()
        if isinstance(one, Result) and one.system == system
    ]
    _check_found(lines, folder, system)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return len(lines)


def write_found(folder: RunFolder, data: Path, system: str, documents: Documents, out: Path) -> int:
    """Write the questions of the data with the first twenty turns or sessions that a run of `retrieval` found
    for each; returns how many questions there are.

    Raises `InvalidInput` for another run, for other data, and for a run that did not keep what it found.
    """
    _check_run(folder, "retrieval")
    content, checksum = read_json(data)
    if checksum != folder.manifest.checksum:
        raise InvalidInput(f"{str(data)!r} is not the data of the run in {str(folder.path)!r}")
    found = {
        one.question: one.found.get(documents, ())
        for one in folder.records()
        if isinstance(one, Retrieved) and one.system == system
    }
    if found and not any(found.values()):
        raise InvalidInput(
            f"the run in {str(folder.path)!r} is older, and did not keep what it found: run it again"
        )
    cases = {question.id: case for case in LongMemEval(data).cases() for question in case.questions}
    questions = [
        item
        | {
            "retrieval_results": _list_items(
                cases[item["question_id"]], found[item["question_id"]], documents
            )
        }
        for item in content
        if item["question_id"] in found
    ]
    _check_found(questions, folder, system)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(questions, ensure_ascii=False), encoding="utf-8")
    return len(questions)


def _hypothesis(one: Result) -> str:
    return f"That is not known. {one.reply.reason}".strip() if one.reply.abstained else one.reply.text


def _list_items(case: Case, found: Sequence[Passage], documents: Documents) -> dict[str, Any]:
    turns = {session.id: session.turns for session in case.sessions}
    items = []
    for passage in found:
        name = case.official[passage.session]
        said = [turn.text for turn in turns[passage.session][passage.start : passage.end]]
        corpus_id = name if documents == "session" else f"{name}_{passage.start + 1}"
        items.append({"corpus_id": corpus_id, "text": "\n".join(said)})
    return {"ranked_items": items}


def _check_run(folder: RunFolder, kind: Kind) -> None:
    manifest = folder.manifest
    if (manifest.kind, manifest.dataset) != (kind, "longmemeval"):
        raise InvalidInput(
            f"{str(folder.path)!r} is a run of {manifest.kind} over {manifest.dataset}; a run of {kind} over "
            "longmemeval is needed"
        )
    for name, what in (
        ("renamed", "gave people other names"),
        ("pile", "put many haystacks into one memory"),
    ):
        if manifest.sample.get(name) is not None:
            raise InvalidInput(
                f"the run in {str(folder.path)!r} {what}, and LongMemEval's scripts read the data as it is"
            )


def _check_found(found: Collection[object], folder: RunFolder, system: str) -> None:
    if not found:
        there = ", ".join(folder.manifest.systems)
        raise InvalidInput(f"no results of {system!r} in {str(folder.path)!r}; its systems are: {there}")
