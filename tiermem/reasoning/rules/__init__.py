"""Whether what was recalled is enough, judged by rules: the router `gate`."""
