"""Tools that make documents and plan work."""
