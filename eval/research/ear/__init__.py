"""HTM-EAR again: its bounded tiers to the digit, and its retrieval with an embedder of this machine."""
