"""knowledge-graph.json: people, projects, tools and decisions as entities, and the relations between them.

One document of bounded size; a person may edit it by hand, and keys that nobody here knows survive. Other names of an
entity stand in its `props` under `aliases`. Spec: memory.md, "Knowledge graph".
"""

import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from skales.core.clock import Clock
from skales.core.errors import BrokenDocumentError, ConflictError, InputError, NotFoundError
from skales.core.ids import IdSource
from skales.core.json import JsonObject, JsonValue, as_list, as_object
from skales.data.document import read_object
from skales.data.graph_shape import (
    TYPE_CHARS,
    Entity,
    EntityChange,
    Relation,
    check_change,
    entities_of,
    folded,
    matching,
    merge_entity,
    one_line,
    relation_of,
    relations_of,
)
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.records import update_or_start_over

MOST_ENTITIES = 5_000
MOST_RELATIONS = 20_000
MOST_DEPTH = 2
_MOST_NEIGHBOURS = 200
_QUERY_CHARS = 400
_WORD = re.compile(r"\w+")

_Raw = dict[str, JsonValue]
_Alter = Callable[[_Raw], None]


class Excerpt(Struct, frozen=True):
    """What a question found. `found` are the answers, best first; `around` are entities they are related to.

    `total` counts all answers. `is_cut` says that more neighbours were left out.
    """

    found: tuple[Entity, ...]
    around: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    total: int
    is_cut: bool = False


class Link(Struct, frozen=True):
    """A relation to note, such as `uses`, and the entity at its other end."""

    relation: str
    target: str
    target_type: str = ""


class Updated(Struct, frozen=True):
    """What an update made of the graph. `target` is None when nothing was related."""

    entity: Entity
    is_new: bool
    target: Entity | None
    is_new_relation: bool


class KnowledgeGraph:
    """The graph of one data directory, read from disk on every call."""

    def __init__(self, directory: DataDirectory, quarantine: Quarantine, clock: Clock, ids: IdSource) -> None:
        self._path = directory.knowledge_graph
        self._quarantine = quarantine
        self._clock = clock
        self._ids = ids

    def query(self, words: str = "", kind: str = "", *, depth: int = 1, limit: int = 20) -> Excerpt:
        """Entities by words of their name, aliases, type and properties, of one type, or both; all without either.

        `depth` is how many relations to follow from each, at most 2.
        """
        raw = self._read()
        entities = [entity for entity in entities_of(raw) if not kind or entity.type == folded(kind)]
        scored = [(score, entity) for entity in entities if (score := _score(entity, words)) > 0]
        scored.sort(key=lambda pair: (-pair[0], pair[1].name.casefold()))
        found = [entity for _score_of, entity in scored[: max(limit, 0)]]
        return _excerpt(raw, found, min(depth, MOST_DEPTH), total=len(scored))

    def update(self, change: EntityChange, link: Link | None = None) -> Updated:
        """Make an entity or merge into the one of that id, name or alias, and relate it to another. Raises InputError.

        The other is made when missing. Either all of it is written or nothing.
        """
        wanted = check_change(change)
        end = check_change(EntityChange(name=link.target, type=link.target_type)) if link else None
        word = one_line(link.relation, "The relation", TYPE_CHARS).casefold() if link else ""
        made: list[tuple[str, bool, str, bool]] = []

        def alter(raw: _Raw) -> None:
            entity_id, is_new = self._merge(raw, wanted)
            target_id = self._merge(raw, end)[0] if end else ""
            relation = Relation(entity_id, target_id, word, self._clock.now_ms())
            made[:] = [(entity_id, is_new, target_id, bool(end) and self._add_relation(raw, relation))]

        raw = update_or_start_over(self._path, self._quarantine, alter, missing={"entities": [], "relations": []})
        known = {entity.id: entity for entity in entities_of(raw)}
        entity_id, is_new, target_id, is_new_relation = made[0]
        return Updated(known[entity_id], is_new, known.get(target_id), is_new_relation)

    def delete(self, name: str, kind: str = "") -> tuple[Entity, int]:
        """Remove an entity and say how many relations went with it. Raises NotFoundError, ConflictError."""
        gone: list[tuple[Entity, int]] = []

        def alter(raw: _Raw) -> None:
            entity = _find(raw, name, kind)
            raw["entities"] = [item for item in as_list(raw.get("entities")) if as_object(item).get("id") != entity.id]
            count = _drop_relations(raw, lambda relation: entity.id in (relation.source, relation.target))
            gone[:] = [(entity, count)]

        self._change_existing(alter, name)
        return gone[0]

    def unrelate(self, source: str, target: str, relation: str = "") -> int:
        """Remove the relations from one entity to another, of one type or all; how many. Raises NotFoundError."""
        counts: list[int] = []

        def alter(raw: _Raw) -> None:
            start, end, word = _find(raw, source), _find(raw, target), folded(relation)
            count = _drop_relations(
                raw,
                lambda known: (
                    (known.source, known.target) == (start.id, end.id) and (not word or folded(known.type) == word)
                ),
            )
            if not count:
                what = f"relation {word!r}" if word else "relation"
                raise NotFoundError(f"There is no {what} from {start.name!r} to {end.name!r}")
            counts[:] = [count]

        self._change_existing(alter, source)
        return counts[0]

    def _change_existing(self, alter: _Alter, name: str) -> None:
        if not self._path.exists():
            raise _unknown(name)
        update_or_start_over(self._path, self._quarantine, alter, missing={})

    def _read(self) -> JsonObject:
        try:
            return read_object(self._path, self._quarantine)
        except (NotFoundError, BrokenDocumentError):
            return {}

    def _merge(self, raw: _Raw, change: EntityChange) -> tuple[str, bool]:
        """The id of the entity the change was merged into, and whether it was made."""
        items = [*as_list(raw.get("entities"))]
        matches = matching(entities_of(raw), change.name, change.type)
        if len(matches) > 1:
            raise _ambiguous(change.name, matches)
        if not matches and len(items) >= MOST_ENTITIES:
            raise InputError(f"The graph holds {MOST_ENTITIES:,} entities, which is all it can", code="full")
        entity_id = matches[0].id if matches else f"ent_{self._ids.token(16)}"
        if change.new_name:
            others = [entity for entity in matching(entities_of(raw), change.new_name, "") if entity.id != entity_id]
            if others:
                raise ConflictError(f"{change.new_name!r} is the name of {others[0].id} already", code="exists")
        former = next((as_object(item) for item in items if as_object(item).get("id") == entity_id), {})
        merged = merge_entity(former, change, entity_id)
        raw["entities"] = (
            [merged if as_object(item).get("id") == entity_id else item for item in items]
            if matches
            else [*items, merged]
        )
        return entity_id, not matches

    def _add_relation(self, raw: _Raw, relation: Relation) -> bool:
        items = as_list(raw.get("relations"))
        known = (relation.source, relation.target, folded(relation.type))
        if any((other.source, other.target, folded(other.type)) == known for other in relations_of(raw)):
            return False
        if len(items) >= MOST_RELATIONS:
            raise InputError(f"The graph holds {MOST_RELATIONS:,} relations, which is all it can", code="full")
        added: JsonObject = {
            "from": relation.source,
            "to": relation.target,
            "type": relation.type,
            "at": relation.at_ms,
        }
        raw["relations"] = [*items, added]
        return True


def _drop_relations(raw: _Raw, goes: Callable[[Relation], bool]) -> int:
    items = as_list(raw.get("relations"))
    kept = [item for item in items if not ((known := relation_of(as_object(item))) and goes(known))]
    raw["relations"] = kept
    return len(items) - len(kept)


def _find(raw: JsonObject, name: str, kind: str = "") -> Entity:
    matches = matching(entities_of(raw), name, kind)
    if not matches:
        raise _unknown(name)
    if len(matches) > 1:
        raise _ambiguous(name, matches)
    return matches[0]


def _score(entity: Entity, words: str) -> float:
    """How well an entity answers to words: a name counts more than what is told of it. 1 without words."""
    wanted = list(dict.fromkeys(_words(words[:_QUERY_CHARS])))
    if not wanted:
        return 0.0 if words.strip() else 1.0
    names = [folded(name) for name in (entity.name, *entity.aliases, entity.id)]
    if folded(words[:_QUERY_CHARS]) in names:
        return 100.0
    in_name = set(_words(" ".join((entity.name, *entity.aliases))))
    elsewhere = set(_words(" ".join((entity.type, *_texts(entity.props)))))
    return sum(2.0 * _holds(in_name, word) or 1.0 * _holds(elsewhere, word) for word in wanted)


def _holds(words: set[str], wanted: str) -> bool:
    """Whether the word is there, or is the beginning of one."""
    return wanted in words or (len(wanted) > 2 and any(word.startswith(wanted) for word in words))


def _texts(props: JsonObject) -> Iterable[str]:
    for key, value in props.items():
        yield key
        yield " ".join(map(str, as_list(value))) if as_list(value) else str(value)


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(folded(text).replace("_", " "))


def _excerpt(raw: JsonObject, found: Sequence[Entity], depth: int, *, total: int) -> Excerpt:
    """The answers with what is around them, relation by relation, nearest first."""
    known = {entity.id: entity for entity in entities_of(raw)}
    relations = [relation for relation in relations_of(raw) if relation.source in known and relation.target in known]
    reached = dict.fromkeys(entity.id for entity in found)
    kept: dict[Relation, None] = {}
    edge = set(reached)
    is_cut = False
    for _ in range(depth):
        touching = [relation for relation in relations if relation.source in edge or relation.target in edge]
        fresh: set[str] = set()
        for relation in touching:
            new = {relation.source, relation.target} - reached.keys()
            if len(reached) + len(new) > len(found) + _MOST_NEIGHBOURS:
                is_cut = True
                continue
            reached.update(dict.fromkeys(new))
            fresh |= new
            kept[relation] = None
        edge = fresh
    around = tuple(known[entity_id] for entity_id in list(reached)[len(found) :])
    return Excerpt(tuple(found), around, tuple(kept), total, is_cut)


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(f"The graph knows no {name!r}", hint="Look for it with knowledge_graph_query")


def _ambiguous(name: str, matches: Sequence[Entity]) -> ConflictError:
    which = ", ".join(f"{entity.id} ({entity.type})" for entity in matches)
    return ConflictError(f"Several entities are called {name!r}", hint=f"Name one by its id: {which}", code="ambiguous")
