"""A chain of LangChain that reads a memory before it replies, and keeps what was said in it.

pip install 'tiermem[local,langchain]'
python examples/with_langchain.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

import tiermem
from tiermem.adapters.langchain import TierMemChatMessageHistory, TierMemRetriever


def reads_its_prompt(prompt: PromptValue) -> AIMessage:
    """In place of a chat model: says back the first thing that the prompt tells of memory."""
    first = str(prompt.to_messages()[0].content).splitlines()[1]
    return AIMessage(f"You said: {first.removeprefix('user: ')}")


def as_text(found: list[Document]) -> str:
    """What was found, a line each."""
    return "\n".join(one.page_content for one in found)


def main(folder: Path) -> str:
    """Talk in one session, ask in another, and give what the chain replies."""
    prompt = ChatPromptTemplate.from_messages([("system", "Memory:\n{found}"), ("user", "{question}")])
    with tiermem.open(folder, engine="local") as memory:
        monday = TierMemChatMessageHistory(memory, "monday")
        monday.add_messages([HumanMessage("My dog Biscuit is allergic to chicken."), AIMessage("Noted.")])

        retriever = TierMemRetriever(memory=memory, k=3, kind="turns")
        sources = {"found": retriever | as_text, "question": RunnablePassthrough()}
        chain = sources | prompt | RunnableLambda(reads_its_prompt)
        question = "What is Biscuit allergic to?"
        reply = chain.invoke(question)

        tuesday = TierMemChatMessageHistory(memory, "tuesday")
        tuesday.add_messages([HumanMessage(question), reply])
        return str(tuesday.messages[-1].content)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as passing:
        print(main(Path(sys.argv[1] if len(sys.argv) > 1 else passing) / "memory"))
