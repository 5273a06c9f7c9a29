"""Where the numbered lines of a log are kept."""
