"""The `file` tools: read, write, search and pack files the path rules allow."""
