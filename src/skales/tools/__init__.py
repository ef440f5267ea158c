"""What a turn can do. A tool is one typed function; its schema is derived from it into `index.json`.

Start-up reads that one file; a tool's module is imported at its first call.
"""
