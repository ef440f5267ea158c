"""The `skales` command: talks to a running server when there is one, else runs the app in its own process."""
