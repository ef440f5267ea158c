"""The embedded model: fetch the runtime and weights once, run them in a supervised child process."""
