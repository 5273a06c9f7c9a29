"""Evaluation stands outside and rings the bell: datasets, systems, scores, reports."""
