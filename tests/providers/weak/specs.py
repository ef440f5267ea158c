"""Tools for these tests, as they are offered to models."""

from collections.abc import Mapping, Sequence

from skales.core.json import JsonObject, JsonValue
from skales.core.tool import Effect, Safety, ToolExample, ToolSpec

STRING: JsonObject = {"type": "string"}
PATH: JsonObject = {"type": "string", "format": "path", "description": "A file."}
URI: JsonObject = {"type": "string", "format": "uri"}


def spec(
    name: str,
    description: str,
    properties: Mapping[str, JsonValue],
    required: Sequence[str] = (),
    example: tuple[str, JsonObject] | None = None,
    *effects: Effect,
) -> ToolSpec:
    parameters: JsonObject = {"type": "object", "properties": properties, "required": list(required)}
    shown = ToolExample(*example) if example else None
    return ToolSpec(
        name=name,
        description=description,
        parameters=parameters,
        category="core",
        safety=Safety.AUTO,
        effects=frozenset(effects),
        example=shown,
    )


READ = spec(
    "read_file",
    "Read a text file.",
    {"path": PATH, "start": {"type": "integer", "minimum": 1}},
    ["path"],
    ("What does poem.txt say?", {"path": "poem.txt"}),
)
WRITE = spec(
    "write_file",
    "Create a text file, or replace one.",
    {"path": PATH, "content": STRING},
    ["path", "content"],
    ("Save 'buy milk' as todo.txt", {"path": "todo.txt", "content": "buy milk\n"}),
    Effect.WRITES,
)
SEARCH = spec(
    "search_in_files",
    "Find lines of text in files.",
    {"query": STRING, "path": PATH},
    ["query"],
    ("Where is parse_date used?", {"query": "parse_date"}),
)
FETCH = spec(
    "fetch_web_page",
    "Read a web page as text.",
    {"url": URI},
    ["url"],
    ("What is on https://example.org/prices?", {"url": "https://example.org/prices"}),
    Effect.OUTBOUND,
)
SYSTEM = spec("get_system_info", "Facts about this computer: processor, memory.", {}, [], ("How much memory?", {}))
CREATE_TASK = spec(
    "create_task",
    "File a background task.",
    {"title": STRING, "description": STRING, "priority": {"type": "string", "enum": ["low", "medium", "high"]}},
    ["title"],
    ("Later, compare the three offers", {"title": "Compare offers", "description": "By price"}),
    Effect.WRITES,
)
LIST_TASKS = spec(
    "list_tasks",
    "List background tasks.",
    {"status": {"type": "string", "enum": ["pending", "running", "completed"]}, "limit": {"type": "integer"}},
    [],
    ("Which tasks are still open?", {"status": "pending"}),
)
MOVE = spec(
    "move_file",
    "Move or rename a file.",
    {"source": PATH, "destination": PATH},
    ["source", "destination"],
    ("Rename draft.md to final.md", {"source": "draft.md", "destination": "final.md"}),
    Effect.WRITES,
)
TOOLS = (CREATE_TASK, FETCH, LIST_TASKS, MOVE, READ, SEARCH, SYSTEM, WRITE)
