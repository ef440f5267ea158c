"""The `core` tools: questions to the person, past conversations, memories and background tasks."""
