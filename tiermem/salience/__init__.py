"""What matters of what is held, and how much: values and functions that read and write nothing."""
