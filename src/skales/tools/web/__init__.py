"""The `web` tools: fetch pages and show what a reader would see of them, as quoted text that is not to be trusted."""
