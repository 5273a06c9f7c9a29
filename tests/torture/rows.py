"""All rows, in the order of the failure table."""

from tests.torture import disk, facts, full, orders, pipeline, replies, spaces, words

ROWS = (
    *disk.ROWS,
    *full.ROWS,
    *replies.ROWS,
    *pipeline.ROWS,
    *words.ROWS,
    *spaces.ROWS,
    *facts.ROWS,
    *orders.ROWS,
)
