"""Record the replies of `tiermem demo --recorded` again, with the model that `TIERMEM_*` names:

TIERMEM_MODEL=… TIERMEM_BASE_URL=… python -m tiermem.apps.cli.demo.record
"""

from __future__ import annotations

import json
import sys
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tiermem
from tiermem.apps.cli.demo.replies import REPLIES, plan_with
from tiermem.apps.cli.demo.run import run_demo
from tiermem.apps.cli.ingest import IngestSummary
from tiermem.errors import InvalidInput, TierMemError
from tiermem.llm.endpoint import ModelOptions
from tiermem.llm.interface import LanguageModel
from tiermem.llm.openai import OpenAIModel
from tiermem.llm.recording import RecordingModel


def record(model: LanguageModel, replies: Path) -> int:
    """Run the demo with a model and write its replies, one a line; returns how many there are."""
    with TemporaryDirectory() as folder:
        calls = Path(folder, "calls.jsonl")
        plan = plan_with(RecordingModel(model, calls))
        run_demo(None, "auto", plan=plan, on_ingested=lambda ingested, _: _check_pages(ingested))
        records = [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]
    lines = sorted(_compact(record) for record in records)
    replies.write_text("".join(lines), encoding="utf-8")
    return len(lines)


def _check_pages(ingested: IngestSummary) -> None:
    if ingested.pending:
        raise TierMemError(f"pages could not be summarised: {'; '.join(ingested.problems)}")


def _compact(record: dict[str, Any]) -> str:
    """Return a line of a recording with the key in place of the messages, and without seconds."""
    call, reply = record["call"], record["reply"]
    usage = {name: reply["usage"][name] for name in ("calls", "input_tokens", "output_tokens")}
    kept = {
        "call": {"prompt": call["prompt"], "role": call["role"]},
        "key": record["key"],
        "reply": {**reply, "usage": usage},
    }
    return json.dumps(kept, ensure_ascii=False) + "\n"


def _model(settings: tiermem.Settings) -> OpenAIModel:
    if settings.model is None:
        raise InvalidInput("name the model with TIERMEM_MODEL (and TIERMEM_BASE_URL, unless it is OpenAI's)")
    return OpenAIModel(
        settings.model,
        base_url=settings.base_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        roles=settings.role_models,
        options=ModelOptions(timeout=settings.model_timeout, deadline=settings.model_deadline or None),
    )


if __name__ == "__main__":
    with as_file(files(__package__) / REPLIES) as path:
        number = record(_model(tiermem.Settings()), path)
    sys.stdout.write(f"{number} replies in {path}\n")
