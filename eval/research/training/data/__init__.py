"""What the reader is trained on and measured with: examples from files, split before anything is drawn."""
