"""One module per command; each is imported only when it runs, so that `--help` stays fast."""
