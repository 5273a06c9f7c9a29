"""Memories over HTTP: every public operation by a request, for clients that have a key."""
