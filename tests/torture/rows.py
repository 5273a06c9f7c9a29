"""All rows, in the order of the failure table."""

from tests.torture import (
    databases,
    disk,
    facts,
    full,
    growth,
    indexes,
    orders,
    pipeline,
    planted,
    private_words,
    replies,
    serving,
    signals,
    spaces,
    words,
    workspaces,
)

ROWS = (
    *disk.ROWS,
    *full.ROWS,
    *replies.ROWS,
    *pipeline.ROWS,
    *indexes.ROWS,
    *words.ROWS,
    *spaces.ROWS,
    *private_words.ROWS,
    *facts.ROWS,
    *orders.ROWS,
    *signals.ROWS,
    *growth.ROWS,
    *workspaces.ROWS,
    *serving.ROWS,
    *databases.ROWS,
    *planted.ROWS,
)
