"""The shape of the code, measured: lines, names, sentences, and what one question passes through."""
