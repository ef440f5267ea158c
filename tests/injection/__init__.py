"""Attacks by text, each carried out by a model that obeys every word, and ordinary work beside them."""
