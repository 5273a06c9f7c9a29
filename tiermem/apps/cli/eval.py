"""`tiermem eval`: measuring TierMem and what it is compared with.

Evaluation is no part of the library: nothing imports it, and its package, `eval`, lies in the repository
next to `tiermem`, in a wheel inside it. Only this command lets it be imported, and only while it runs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from typer import Typer

_FOLDERS = (
    Path(__file__).parents[2] / "_eval",  # an installed wheel
    Path(__file__).parents[3],  # a checkout
)


def _evaluation() -> Typer:
    here = next(folder for folder in _FOLDERS if (folder / "eval" / "cli.py").is_file())
    sys.path.insert(0, str(here))
    app: Typer = import_module("eval.cli").app
    return app


app = _evaluation()
"""The commands of evaluation, with arguments of their own."""
