"""What a reader's lead counts beside the score of a search: fitted on halves A, told of halves B."""
