"""Verdicts: which paths, hosts and commands a call may touch, and what is a secret.

Nothing here opens, writes or requests anything; at most it looks where a link points and which file a name means.
"""
