"""Where every byte on disk lives. No other room opens a file under the data directory, the workspace excepted.

Everything here is synchronous; callers on the event loop use a thread. Plain files are the truth, the index is a cache.
"""
