"""Measures Skales beside a bare limit of the same run. Each row names its baseline; README.md explains the rows.

It imports nothing of Skales except in `stored`, `trust` and `loaded`, which measure the rooms below the server directly.
"""
