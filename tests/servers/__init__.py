"""Servers that tests talk to over loopback."""
