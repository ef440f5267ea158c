"""Verdicts: which paths, hosts and commands a call may touch, and what is a secret.

Nothing here opens, writes or requests anything; at most it reads where a link points.
"""
