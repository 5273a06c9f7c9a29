"""A chat agent in 30 lines: what was said in any chat before comes back, with who said it and when.

python examples/chat.py [FOLDER]
"""

import sys
from collections.abc import Callable

import tiermem


def reply(memory: tiermem.Memory, complete: Callable[[str], str], said: str) -> str:
    """Answer with what memory holds on it, and keep both sides."""
    known = memory.context(said, max_tokens=500)
    answer = complete(f"{known.text}\n\nAnswer from these sources where they tell it.\nUser: {said}\nYou:")
    memory.add(said, role="user")
    memory.add(answer, role="assistant", sources=known)
    return answer


def by_rules(prompt: str) -> str:
    """In place of a model, which is given the same prompt: the first thing the user said on it."""
    told = (line for line in prompt.splitlines() if line.startswith("| user:"))
    return next(told, "I have not heard of that.").removeprefix("| user: ")


if __name__ == "__main__":
    with tiermem.open(sys.argv[1] if len(sys.argv) > 1 else "memory", engine="local") as memory:
        for line in sys.stdin:
            print(reply(memory, by_rules, line.strip()))
