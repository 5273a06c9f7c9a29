"""A route that is learned: what it sees of a question and its evidence, and a linear policy over that."""
