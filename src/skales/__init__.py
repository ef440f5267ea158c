"""Skales: a local-first AI agent. The rooms and who may import whom are in ARCHITECTURE.md."""

__version__ = "0.1.0"
