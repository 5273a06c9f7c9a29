"""Judges: who says whether an answer is right. One that cannot decide says so, and is counted apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, Protocol

from pydantic import BaseModel

from eval.metrics.qa import ENOUGH_F1, exact, right_by_words, soft_match, token_f1
from eval.types import Grade, LabelledQuestion, Reply
from tiermem.errors import InvalidInput, MalformedReply
from tiermem.llm import LanguageModel, Prompt, ask_typed, read_prompt

UNANSWERABLE: Final = "The conversations do not say; the question cannot be answered from them."
Style = Literal["strict", "generous"]
STYLES: Final[tuple[Style, ...]] = ("strict", "generous")
_PROMPTS: Final = Path(__file__).parent / "prompts"
_FILES: Final[Mapping[Style, str]] = {"strict": "judge.md", "generous": "judge-generous.md"}


class Judge(Protocol):
    """Says whether a reply is right."""

    @property
    def name(self) -> str:
        """What a table header says about who judged."""
        ...

    async def grade(self, question: LabelledQuestion, reply: Reply) -> Grade:
        """The grade; `correct=None` when it could not be decided."""
        ...


class Verdict(BaseModel):
    """What the judge model replies."""

    reason: str = ""
    label: Literal["CORRECT", "WRONG"]


class ByWords:
    """Right when the answer holds a gold answer's words in order, shares enough of them, or names its date.

    What grades where no model judges: it is blind to paraphrase and lenient with long answers, so it
    compares systems of one run and nothing else. An unanswerable question is answered by abstaining.
    """

    name = f"no judge model: correct = holds the gold words, or token F1 ≥ {ENOUGH_F1}; dates by the calendar"

    async def grade(self, question: LabelledQuestion, reply: Reply) -> Grade:
        """By words; `None` when there is nothing to compare with."""
        if not question.answerable:
            return _grade(question, reply, correct=reply.abstained, judge=self.name)
        if not question.gold:
            return _grade(question, reply, correct=None, judge=self.name)
        right = not reply.abstained and right_by_words(reply.text, question.gold)
        return _grade(question, reply, correct=right, judge=self.name)


class ByModel:
    """A language model with our own prompts, at temperature 0. `MalformedReply` is "undecided".

    Every style grades every reply; the first one's verdict is `Grade.correct`. Strict: whoever relies on
    the answer knows what the reference says. Generous: the same topic or time is enough, as papers on
    LoCoMo count.
    """

    def __init__(self, model: LanguageModel, styles: Sequence[Style] = ("strict",)) -> None:
        if not styles:
            raise InvalidInput(f"a judge needs a style, one or more of {', '.join(STYLES)}")
        self._model = model
        self._prompts = {style: judge_prompt(style) for style in styles}

    @property
    def name(self) -> str:
        """The model and the prompts it is asked with."""
        return f"{self._model.model_for('judge')} with {', '.join(self.prompts)}"

    @property
    def prompts(self) -> tuple[str, ...]:
        """The ids of its prompts."""
        return tuple(prompt.id for prompt in self._prompts.values())

    async def grade(self, question: LabelledQuestion, reply: Reply) -> Grade:
        """The model's verdicts; what needs no judgement (abstaining, saying nothing) is decided here."""
        verdicts: dict[str, bool | None] = {
            style: await self._verdict(prompt, question, reply) for style, prompt in self._prompts.items()
        }
        correct = next(iter(verdicts.values()))
        return _grade(question, reply, correct=correct, judge=self.name, verdicts=verdicts)

    async def _verdict(self, prompt: Prompt, question: LabelledQuestion, reply: Reply) -> bool | None:
        if reply.abstained or not reply.text.strip():
            return not question.answerable
        reference = "\nor: ".join(question.gold) if question.answerable else UNANSWERABLE
        if not reference:
            return None
        values = {"question": question.text, "reference": reference, "answer": reply.text}
        try:
            verdict = await ask_typed(
                self._model, prompt, values, Verdict, role="judge", max_tokens=300, temperature=0.0
            )
        except MalformedReply:
            return None
        return verdict.label == "CORRECT"


def judge_prompt(style: Style = "strict") -> Prompt:
    """The prompt a judge of this style is asked with."""
    return read_prompt(_PROMPTS / _FILES[style])


def _grade(
    question: LabelledQuestion,
    reply: Reply,
    *,
    correct: bool | None,
    judge: str,
    verdicts: Mapping[str, bool | None] | None = None,
) -> Grade:
    verdicts = verdicts or {}
    text = "" if reply.abstained else reply.text
    if not question.answerable:
        silent = float(reply.abstained)
        return Grade(
            f1=silent,
            exact=reply.abstained,
            soft=reply.abstained,
            correct=correct,
            judge=judge,
            verdicts=verdicts,
        )
    return Grade(
        f1=token_f1(text, question.gold),
        exact=exact(text, question.gold),
        soft=soft_match(text, question.gold),
        correct=correct,
        judge=judge,
        verdicts=verdicts,
    )
