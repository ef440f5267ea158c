"""One module per group of programs' routes: the DevKit under /api/cli, and our own beside it."""
