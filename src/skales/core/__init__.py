"""The words every room speaks: messages, tools, events, errors, ports. Pure; no I/O, no asyncio, no outside library."""
