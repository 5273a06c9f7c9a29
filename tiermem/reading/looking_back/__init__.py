"""Looking back: where an answer came from, what it went through, what the summaries lost."""
