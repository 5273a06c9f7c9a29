"""Time, memory and disk by the number of turns, beside what people would use otherwise."""
