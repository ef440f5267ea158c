"""The one place that wires the rooms together, and owns their start and stop."""
