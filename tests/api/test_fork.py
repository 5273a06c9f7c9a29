"""A process forked from the one that opened a memory is told so, and harms nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tiermem
from tests.api.conftest import OpenMemory

FORKED = """
import os, sys
import tiermem
from tiermem.embedding.hashed import HashEmbedder

memory = tiermem.open(sys.argv[1], engine="local", embedder=HashEmbedder())
memory.add("My dog Biscuit is allergic to chicken.")
child = os.fork()
if child == 0:
    try:
        memory.ask("What is Biscuit allergic to?")
    except tiermem.TierMemError as error:
        print(type(error).__name__, str(error)[:60], flush=True)
    memory.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
memory.add("Biscuit likes fish.")
print(memory.ask("What is Biscuit allergic to?").said[0].text, flush=True)
memory.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_is_told_and_the_one_that_opened_goes_on(address: Path | str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(address)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    told, answered = ran.stdout.splitlines()
    assert told == "MemoryClosed this memory was opened by the process that this one was fork"
    assert "chicken" in answered


def test_a_memory_says_which_it_is_and_its_methods_what_they_do(open_memory: OpenMemory) -> None:
    memory = open_memory()
    assert repr(memory).startswith("<Memory of space 'default' in '")
    assert "citing the words it rests on" in (tiermem.Memory.ask.__doc__ or "")
    memory.close()
    assert repr(memory) == "<Memory, closed>"
