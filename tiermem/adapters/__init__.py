"""A memory as the frameworks people already use expect it: one file an ecosystem.

Each file imports its own framework alone, and takes the memory that `tiermem.open` gives, which any event
loop and any thread may use; where a framework awaits, the memory works in a worker thread meanwhile. Import
the file itself: `from tiermem.adapters.langchain import TierMemRetriever`. Without the framework the import
raises `InvalidInput`, which names the extra that brings it.
"""
