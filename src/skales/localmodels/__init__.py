"""The embedded model: fetch the runtime and weights once, run them in a supervised child process.

`manager` is the public face. Only `child` imports the runtime, and it runs in a process of its own.
"""
