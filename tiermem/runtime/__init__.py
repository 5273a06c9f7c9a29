"""What keeps a memory going: its components, background jobs, event loop, and lock."""
