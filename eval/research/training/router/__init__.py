"""A router trained from outcomes: data, reward, recipes for a large model, a small policy."""
