"""A memory for agents that speak the Model Context Protocol."""

from tiermem.apps.mcp.server import serve_http, server

__all__ = ["serve_http", "server"]
