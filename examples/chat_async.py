"""A chat agent in 30 lines that awaits: many people at once, each with a memory of their own.

python examples/chat_async.py [FOLDER]
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable

import tiermem

Complete = Callable[[str], Awaitable[str]]


async def reply(memory: tiermem.AsyncMemory, complete: Complete, said: str) -> str:
    """Answer with what memory holds on it, and keep both sides."""
    known = await memory.context(said, max_tokens=500)
    answer = await complete(
        f"{known.text}\n\nAnswer from these sources where they tell it.\nUser: {said}\nYou:"
    )
    await memory.add(said, role="user")
    await memory.add(answer, role="assistant", sources=known)
    return answer


async def by_rules(prompt: str) -> str:
    """In place of a model, which is given the same prompt: the first thing the user said on it."""
    told = (line for line in prompt.splitlines() if line.startswith("| user:"))
    return next(told, "I have not heard of that.").removeprefix("| user: ")


async def chat(folder: str, person: str, *lines: str) -> list[str]:
    """What one person is answered; a memory of a space is open while it is used."""
    async with await tiermem.AsyncMemory.open(folder, space=person, engine="local") as memory:
        return [await reply(memory, by_rules, line) for line in lines]


async def main(folder: str) -> None:
    """Two people talk at once, and hear nothing of each other."""
    ann = chat(folder, "ann", "My dog is called Biscuit.", "What is my dog called?")
    ben = chat(folder, "ben", "I sail on Sundays.", "What is my dog called?")
    for answers in await asyncio.gather(ann, ben):
        print(answers[-1])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "memory"))
