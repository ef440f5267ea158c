"""Who answers. Vendors are table entries, wire formats are modules, quirks are named functions.

Keys arrive as arguments; this room reads no settings and no files of the user.
"""
