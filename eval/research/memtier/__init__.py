"""MemTier's retrieval again, as far as it needs no language model."""
