"""The console: pages for members and operators under `/console`, drawn on the server."""
