"""All rows, in the order of the failure table."""

from tests.torture import disk, facts, growth, indexes, orders, pipeline, replies, spaces, words

ROWS = (
    *disk.ROWS,
    *replies.ROWS,
    *pipeline.ROWS,
    *indexes.ROWS,
    *words.ROWS,
    *spaces.ROWS,
    *facts.ROWS,
    *orders.ROWS,
    *growth.ROWS,
)
