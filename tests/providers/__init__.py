"""Tests of the providers room."""
