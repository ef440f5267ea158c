"""Measures Skales beside a bare limit of the same run. Each row names its baseline; README.md explains the rows.

Only `stored`, `trust` and `loaded` import Skales: they measure the rooms below the server directly.
"""
