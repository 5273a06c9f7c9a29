"""Training a small reader on the installed weights: its network, lessons, export and marks."""
