"""Memories over HTTP: every public operation by a request, for whoever has a key."""
