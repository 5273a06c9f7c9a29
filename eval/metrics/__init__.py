"""Scores: pure functions from rankings and answers to numbers."""
