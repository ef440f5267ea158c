"""The knowledge_graph tools: who and what belongs together, kept between conversations."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated

from anyio import to_thread

from skales.core.clock import to_datetime
from skales.core.errors import InputError
from skales.core.json import JsonValue
from skales.core.tool import Effect, Safety, ToolResult
from skales.data.graph_shape import Entity, EntityChange, Relation, entity_json
from skales.data.knowledge_graph import Excerpt, Link
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.describe import visible
from skales.tools.file.wording import count_of

_SHOWN_VALUE = 200
_SHOWN_RELATIONS = 200


@tool(
    "core",
    Safety.AUTO,
    Effect.READS_PRIVATE,
    action="Look in the knowledge graph[ for {query}]",
    example=("Who works on the Atlas project?", {"query": "Atlas", "depth": 1}),
    found_by=(
        "Personen people related connected zusammen hängt mit Wissen Beziehungen who works knows Zusammenhang "
        "verbunden entities projects wer gehört arbeitet kennt Verbindung connection between zwischen Firma "
        "company team"
    ),
)
async def knowledge_graph_query(
    ctx: ToolContext,
    query: str = "",
    type: str = "",
    depth: Annotated[int, Range(0, 2)] = 1,
    limit: Annotated[int, Range(1, 100)] = 20,
) -> ToolResult:
    """Find people, projects, tools or decisions that were noted, and how they are related.

    Args:
        query: Words, a name or an id; empty for all.
        type: Only entities of this type, such as project.
        depth: How many relations to follow.
        limit: How many entities at most.
    """
    found = await to_thread.run_sync(partial(ctx.graph.query, query, type, depth=depth, limit=limit))
    if not found.found:
        return ToolResult(text="The knowledge graph holds nothing like that.", summary="Nothing found")
    return ToolResult(
        text="\n".join(_lines(found)),
        summary=f"Found {count_of(found.total, 'entity', 'entities')}",
        data={
            "entities": [entity_json(entity) for entity in (*found.found, *found.around)],
            "relations": [_relation_json(relation) for relation in found.relations[:_SHOWN_RELATIONS]],
        },
    )


@tool(
    "core",
    Safety.AUTO,
    Effect.WRITES,
    action="Note {name}[ {relation}][ {target}] in the knowledge graph",
    example=("Ada leads the Atlas project", {"name": "Ada", "type": "person", "relation": "leads", "target": "Atlas"}),
    found_by=(
        "Beziehung eintragen works for ist Chef relation link Person Projekt verknüpfen knowledge add fact "
        "brother sister Bruder Schwester Mann Frau husband wife married verheiratet boss colleague Kollege "
        "arbeitet belongs gehört Firma company note halt fest leitet leads team"
    ),
)
async def knowledge_graph_update(  # noqa: PLR0913 - what a model may say in one call
    ctx: ToolContext,
    name: str,
    type: str = "",
    properties: Mapping[str, JsonValue] = {},
    aliases: Annotated[Sequence[str], Range(0, 20)] = (),
    relation: str = "",
    target: str = "",
    target_type: str = "",
    new_name: str = "",
) -> ToolResult:
    """Note a person, project, tool or decision, or how two belong together, for later conversations.

    Merges with what is known; only what the person said or did, no passwords or keys.

    Args:
        name: Name, alias or id of the entity; made when unknown.
        type: Such as person, project, tool, preference, decision.
        properties: Facts as names and values; an empty value removes one.
        aliases: Other names.
        relation: Verb, such as uses, works_on, decided.
        target: Entity at the other end; made when unknown.
        target_type: Its type.
        new_name: Rename the entity.
    """
    if bool(relation.strip()) != bool(target.strip()):
        raise InputError("A relation needs both relation and target", hint="Give both, or neither")
    change = EntityChange(name=name, type=type, new_name=new_name, aliases=tuple(aliases), props=properties)
    link = Link(relation, target, target_type) if relation.strip() else None
    updated = await to_thread.run_sync(ctx.graph.update, change, link)
    entity, end = updated.entity, updated.target
    lines = [f"{'Noted' if updated.is_new else 'Updated'} {_line(entity)}"]
    if end is not None:
        known = "" if updated.is_new_relation else " (known already)"
        lines.append(f"{visible(entity.name)} → {visible(relation)} → {visible(end.name)} [{end.id}]{known}")
    return ToolResult(text="\n".join(lines), summary=f"Noted {visible(entity.name)}", data=entity_json(entity))


@tool(
    "core",
    Safety.CONFIRM,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    action="Remove {name}[ → {target}] from the knowledge graph",
    example=("Forget that Ada leads Atlas", {"name": "Ada", "relation": "leads", "target": "Atlas"}),
    found_by=(
        "Eintrag vergessen entity relation entfernen löschen knowledge forget person Verbindung connection "
        "between zwischen vergiss longer mehr arbeitet works left verlassen Firma company remove trennen"
    ),
)
async def knowledge_graph_delete(
    ctx: ToolContext,
    name: str,
    type: str = "",
    relation: str = "",
    target: str = "",
) -> ToolResult:
    """Remove an entity with its relations, or with target only the relation between two.

    Args:
        name: Name, alias or id.
        type: Chooses among entities of one name.
        relation: Only this relation to target.
        target: Entity at the other end; then both entities stay.
    """
    if relation.strip() and not target.strip():
        raise InputError("target is missing", hint="Name the entity at the other end of the relation")
    return await to_thread.run_sync(partial(_delete, ctx, (name, type), relation, target))


def _delete(ctx: ToolContext, which: tuple[str, str], relation: str, target: str) -> ToolResult:
    name, kind = which
    if target:
        count = ctx.graph.unrelate(name, target, relation)
        words = f"Removed {count_of(count, 'relation')} from {visible(name)} to {visible(target)}"
        return ToolResult(text=f"{words}. Both entities are kept.", summary=words, data={"relations": count})
    entity, count = ctx.graph.delete(name, kind)
    words = f"Removed {visible(entity.name)} and {count_of(count, 'relation')}"
    return ToolResult(text=f"{words}.", summary=words, data={"id": entity.id, "relations": count})


def _lines(found: Excerpt) -> Sequence[str]:
    names = {entity.id: visible(entity.name) for entity in (*found.found, *found.around)}
    lines = [f"- {_line(entity)}" for entity in found.found]
    if found.total > len(found.found):
        lines.append(f"[{found.total - len(found.found):,} more; use narrower words or a type]")
    if found.around:
        lines += ["Related:", *(f"- {_line(entity)}" for entity in found.around)]
    if found.relations:
        lines += ["Relations:", *(_relation_line(relation, names) for relation in found.relations[:_SHOWN_RELATIONS])]
    hidden = len(found.relations) - _SHOWN_RELATIONS
    if hidden > 0 or found.is_cut:
        lines.append("[Not all neighbours are shown; ask for one of them, or with a smaller depth]")
    return lines


def _line(entity: Entity) -> str:
    also = f", also {', '.join(map(visible, entity.aliases))}" if entity.aliases else ""
    facts = "; ".join(f"{visible(key)}: {_short(value)}" for key, value in entity.props.items())
    return f"{visible(entity.name)} [{visible(entity.type)}, {entity.id}{also}]{': ' if facts else ''}{facts}"


def _short(value: JsonValue) -> str:
    text = visible(value if isinstance(value, str) else str(value))
    return text if len(text) <= _SHOWN_VALUE else f"{text[:_SHOWN_VALUE]}…"


def _relation_line(relation: Relation, names: Mapping[str, str]) -> str:
    day = f" ({to_datetime(relation.at_ms).strftime('%Y-%m-%d')})" if relation.at_ms else ""
    return f"- {names[relation.source]} → {visible(relation.type)} → {names[relation.target]}{day}"


def _relation_json(relation: Relation) -> Mapping[str, JsonValue]:
    return {"from": relation.source, "to": relation.target, "type": relation.type, "at": relation.at_ms}
