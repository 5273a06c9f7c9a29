"""What memory learns about itself, as values: it proposes, and `tiermem.writing` applies. Pure."""
