"""`tiermem page`: a page as it is kept. How it is drawn is in `tiermem.apps.present.answers`."""

from __future__ import annotations

from tiermem.apps.cli import options
from tiermem.apps.present.answers import page_view
from tiermem.apps.present.terminal import out
from tiermem.apps.present.titles import session_label, titles_by_session


def page(page_id: options.PageId, *, place: options.SpaceOptions, looking: options.Looking) -> None:
    """Print a page: what was said, verbatim."""
    with place.open(read_only=True) as memory:
        found = memory.page(options.page_named(memory, page_id))
        label = session_label(found.session, titles_by_session(memory))
    looking.show(found, lambda: page_view(found, out(), session=label))
