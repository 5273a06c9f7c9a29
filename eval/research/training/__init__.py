"""MemTier's learning of weights again, and why nothing is learned: for measuring, not for the library."""
