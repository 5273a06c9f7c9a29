"""A memory for agents that speak the Model Context Protocol."""

from tiermem.apps.mcp.server import server

__all__ = ["server"]
