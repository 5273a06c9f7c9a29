"""Memory for coding agents that captures by itself: the spool of their events, and their settings."""
