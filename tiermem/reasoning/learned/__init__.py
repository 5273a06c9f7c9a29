"""What a small model on the installed weights of MiniLM reads: the same passages in training and in use."""
