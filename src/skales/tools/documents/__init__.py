"""Readers that turn documents and text of any encoding into lines. Not tools; `read_file` uses them."""
