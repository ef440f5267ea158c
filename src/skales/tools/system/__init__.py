"""The `system` tools: shell commands and facts about this computer."""
