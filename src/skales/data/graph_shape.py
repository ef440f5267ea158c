"""How the knowledge graph's entities and relations stand in its file: read, compared by name, checked and merged.

Pure; the file itself is the business of `knowledge_graph`. Spec: memory.md, "Knowledge graph".
"""

import unicodedata
from collections.abc import Sequence

from msgspec import Struct, field

from skales.core.errors import InputError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text
from skales.data.records import moment_ms, texts_of

_NAME_CHARS = 200
TYPE_CHARS = 60
_VALUE_CHARS = 2_000
_MOST_PROPS = 50
_MOST_ALIASES = 20
_ALIASES = "aliases"


class Entity(Struct, frozen=True, kw_only=True):
    """One thing or person. `type` is lower-case, such as `project`; `props` is without the aliases."""

    id: str
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    props: JsonObject = field(default_factory=dict[str, JsonValue])


class Relation(Struct, frozen=True):
    """`source` and `target` are ids; `type` is a verb such as `uses`. `at_ms` is when it was noted."""

    source: str
    target: str
    type: str
    at_ms: int = 0


class EntityChange(Struct, frozen=True, kw_only=True):
    """What to make or change. Empty texts leave things as they are; a property that is None or "" is taken away."""

    name: str
    type: str = ""
    new_name: str = ""
    aliases: Sequence[str] = ()
    props: JsonObject = field(default_factory=dict[str, JsonValue])


def entity_json(entity: Entity) -> JsonObject:
    """An entity as data for programs."""
    return {
        "id": entity.id,
        "type": entity.type,
        "name": entity.name,
        "aliases": list(entity.aliases),
        "props": dict(entity.props),
    }


def entities_of(raw: JsonObject) -> Sequence[Entity]:
    """What the file says that makes sense; an entry without id or name is passed over and stays."""
    return [
        _entity(item)
        for item in map(as_object, as_list(raw.get("entities")))
        if as_text(item.get("id")) and as_text(item.get("name")).strip()
    ]


def _entity(item: JsonObject) -> Entity:
    props = as_object(item.get("props"))
    return Entity(
        id=as_text(item.get("id")),
        type=folded(as_text(item.get("type"))) or "thing",
        name=" ".join(as_text(item.get("name")).split()),
        aliases=texts_of(props.get(_ALIASES)),
        props={key: value for key, value in props.items() if key != _ALIASES},
    )


def relations_of(raw: JsonObject) -> Sequence[Relation]:
    """What the file says that makes sense."""
    return [relation for item in as_list(raw.get("relations")) if (relation := relation_of(as_object(item)))]


def relation_of(item: JsonObject) -> Relation | None:
    """The relation of an entry, None when it is none."""
    match item:
        case {"from": str(source), "to": str(target), "type": str(word)}:
            return Relation(source, target, word, moment_ms(item.get("at")))
        case _:
            return None


def matching(entities: Sequence[Entity], name: str, kind: str) -> Sequence[Entity]:
    """By id, else by name, else by another name; case does not count. A type chooses among several."""
    wanted = folded(name)
    by_id = [entity for entity in entities if entity.id == name.strip()]
    typed = [entity for entity in entities if not kind or entity.type == folded(kind)]
    by_name = [entity for entity in typed if folded(entity.name) == wanted]
    by_alias = [entity for entity in typed if wanted in map(folded, entity.aliases)]
    return by_id or by_name or by_alias


def folded(text: str) -> str:
    """As names are compared: without case, accents and superfluous blanks."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(letter for letter in plain if not unicodedata.combining(letter)).split())


def check_change(change: EntityChange) -> EntityChange:
    """The change in tidy words. Raises InputError."""
    aliases = tuple(one_line(alias, "An alias", _NAME_CHARS) for alias in change.aliases if alias.strip())
    for key, value in change.props.items():
        if not key.strip() or len(key) > TYPE_CHARS or key == _ALIASES:
            raise InputError(f"{key[:TYPE_CHARS]!r} cannot name a property")
        if len(str(value)) > _VALUE_CHARS:
            raise InputError(f"The property {key!r} is longer than {_VALUE_CHARS:,} characters")
    return EntityChange(
        name=one_line(change.name, "The name", _NAME_CHARS),
        type=one_line(change.type, "The type", TYPE_CHARS).casefold() if change.type.strip() else "",
        new_name=one_line(change.new_name, "The new name", _NAME_CHARS) if change.new_name.strip() else "",
        aliases=aliases,
        props=change.props,
    )


def one_line(text: str, what: str, most: int) -> str:
    """The text with single blanks. Raises InputError that begins with `what` when it is empty or too long."""
    words = " ".join(text.split())
    if not words:
        raise InputError(f"{what} is empty")
    if len(words) > most:
        raise InputError(f"{what} is longer than {most} characters")
    return words


def merge_entity(former: JsonObject, change: EntityChange, entity_id: str) -> JsonObject:
    """The entry with the change put in. Raises InputError when it would hold too much."""
    props: dict[str, JsonValue] = {**as_object(former.get("props")), **change.props}
    props = {key: value for key, value in props.items() if value not in (None, "")}
    name = change.new_name or as_text(former.get("name")) or change.name
    aliases = _merged_aliases(texts_of(props.get(_ALIASES)), change.aliases, name)
    if len(props) > _MOST_PROPS or len(aliases) > _MOST_ALIASES:
        raise InputError(f"An entity has at most {_MOST_PROPS} properties and {_MOST_ALIASES} other names", code="full")
    props.pop(_ALIASES, None)
    kind = change.type or as_text(former.get("type")) or "thing"
    if aliases:
        props[_ALIASES] = list(aliases)
    return {**former, "id": entity_id, "type": kind, "name": name, "props": props}


def _merged_aliases(former: Sequence[str], added: Sequence[str], name: str) -> Sequence[str]:
    kept = {folded(alias): alias for alias in (*added, *former)}
    kept.pop(folded(name), None)
    return tuple(reversed(kept.values()))
