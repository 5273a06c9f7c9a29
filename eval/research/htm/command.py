"""`python -m eval.research htm`: the cases HTM's documents print."""

from __future__ import annotations

from eval.options import AsJson, PageTo


def htm_command(*, page: PageTo = None, as_json: AsJson = False) -> None:
    """HTM's printed cases of eviction and of balanced contexts, by its own algorithm."""
    from eval.research.htm.page import found
    from eval.research.reproduction import present

    present(found(), page_to=page, as_json=as_json)
