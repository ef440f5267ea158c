"""HTTP on loopback: the DevKit routes, the page, event streams. Routes translate; they hold no logic."""
