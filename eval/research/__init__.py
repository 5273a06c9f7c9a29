"""Research: what repeats the figures of papers, and what trains the reader. The wheel does not have it."""
