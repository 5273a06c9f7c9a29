"""The judgements asked of a language model, one file each, with the prompts in `prompts/`.

A file says what its prompt is given, what reply it takes, and how that reply is read. The model sees
numbers, never ids; a number it was not shown is dropped. Each judgement is paid as a step of its own name.
"""

from tiermem.reasoning.model.engine import by_model

__all__ = ["by_model"]
