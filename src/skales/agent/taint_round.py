"""Around each call that runs: names whose text came back, takes hidden characters out of it, remembers what it wrote.

A result marks the conversation when the tool returns what others wrote, and when it shows a file, a note or another
conversation that holds such text. What a call writes while the conversation is marked is remembered with the sources.
Spec: security.md, "Untrusted content".
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import anyio.to_thread
from msgspec import Struct

from skales.agent.gate import PassedCall, Proceed
from skales.agent.marks import MarkBook
from skales.agent.taint import TaintJudge, explain, find_danger
from skales.agent.taint_names import name_output
from skales.core.clock import Clock
from skales.core.events import Notice
from skales.core.ids import SessionId
from skales.core.json import JsonValue, as_list, as_object, as_text
from skales.core.tool import Effect, SafetyMode, ToolResult, ToolSpec, property_formats
from skales.data.tainted_files import TaintedFiles
from skales.security.invisible import strip_invisible
from skales.security.received import is_received_kind, lies_in_downloads

# Without a sandbox nothing else says that a command reaches out.
_NETWORK_WORDS = re.compile(
    r"(?:https?|ftp|sftp|ssh)://|\b(?:curl|wget|ssh|scp|sftp|rsync|nc|ncat|telnet|gh|lynx|w3m)\b"
    r"|\bgit\s+(?:clone|pull|fetch|submodule)\b",
    re.IGNORECASE,
)
_MOST_FILES = 2_000
_MOST_CHANGED = 200_000
_CLOCK_SLACK_S = 2.0
_CHANGING = frozenset({Effect.WRITES, Effect.DESTRUCTIVE})
# Tools that say whose text they return themselves, because they start conversations of their own.
_NAME_THEMSELVES = frozenset({"dispatch_subtasks", "run_workflow"})
# What is kept elsewhere than in files: tool that keeps it → kind and the argument that names it; else the result's id.
_KEEPERS: Mapping[str, tuple[str, str]] = {
    "memory_write": ("memory", ""),
    "create_task": ("task", ""),
    "schedule_recurring_task": ("job", ""),
    "create_skill": ("skill", "name"),
    "knowledge_graph_update": ("graph", "name"),
    "planner_create_task": ("planner", "title"),
    "update_capabilities": ("capability", "key"),
}
_READERS: Mapping[str, str] = {
    "memory_search": "memory",
    "list_tasks": "task",
    "list_scheduled_tasks": "job",
    "read_skill": "skill",
    "knowledge_graph_query": "graph",
    "planner_list_tasks": "planner",
    "check_capabilities": "capability",
}
# They show names of files, not what is in them.
_NAMES_ONLY = frozenset({"list_directory", "find_files", "get_disk_usage", "list_projects", "get_workspace_info"})
_LONG_NAME = 40
_MANY_WORDS = 4
# Arguments that name what a call writes, whatever was there before.
_USUAL_OUTPUTS = frozenset({"destination", "archive", "filename", "folder"})
_OUTPUTS = {"extract_archive": frozenset({"destination"}), "write_file": frozenset({"path"})}
# Tools whose `source` goes to their `destination` unread.
_CARRIERS = frozenset({"copy_file", "move_file"})


class TaintRound(Struct, frozen=True, kw_only=True):
    """What the round needs. `judge` knows what would be asked about in a mode that asks."""

    judge: TaintJudge
    workspace: Path
    marks: MarkBook
    files: TaintedFiles
    clock: Clock

    async def run(self, passed: PassedCall, proceed: Proceed) -> ToolResult:
        """The round for the gate."""
        self._warn(passed)
        began_ms = self.clock.now_ms()
        # Of a call that changes nothing the inputs are afterwards what they were before.
        read_before: Sequence[str] | None = None
        if passed.spec.effects & _CHANGING or _command_of(passed):
            read_before = await anyio.to_thread.run_sync(self._sources_of_inputs, passed)
        result = await proceed(passed)
        passed.afterwards.append(lambda settled: self._settle(passed, settled, read_before, began_ms))
        return result

    def _warn(self, passed: PassedCall) -> None:
        """In the mode unrestricted nothing asks; the person is told what they would have been asked."""
        origin = passed.origin
        if origin.by_user or not origin.sources or self.judge.mode() is not SafetyMode.UNRESTRICTED:
            return
        danger = find_danger(passed.spec, passed.call.arguments, origin.marks, self.judge.places())
        if danger is not None:
            origin.emit(Notice("warning", f"{passed.spec.name}: {explain(danger, origin.sources)}"))

    def _settle(
        self, passed: PassedCall, result: ToolResult, inputs: Sequence[str] | None, began_ms: int
    ) -> ToolResult:
        paths = tuple(self._input_paths(passed)) if inputs is None or _shows_files(passed.spec) else ()
        inputs = self._sources_of(passed, paths) if inputs is None else inputs
        shown = [*result.sources, *self._foreign(passed, result), *self._kept_sources(passed, result)]
        if _shows_files(passed.spec):
            shown += inputs
            shown += self._listed(passed, result, paths)
        sources = tuple(dict.fromkeys(shown))
        if sources:
            result = _show_plainly(replace(result, sources=sources))
        self._remember(passed, result, tuple(dict.fromkeys((*passed.origin.sources, *sources, *inputs))), began_ms)
        return result

    # --- whose text came back ---

    def _foreign(self, passed: PassedCall, result: ToolResult) -> Iterator[str]:
        spec = passed.spec
        if Effect.UNTRUSTED_OUTPUT not in spec.effects or spec.name in _NAME_THEMSELVES:
            return
        # The program's own words, such as that nobody answered, are one line; elsewhere they may quote others.
        is_plain = spec.category == "web" or spec.name.startswith("git_")
        if result.is_error and is_plain and "\n" not in result.text:
            return
        yield from name_output(spec, passed.call.arguments)

    def _sources_of_inputs(self, passed: PassedCall) -> Sequence[str]:
        """Whose text the files hold that the call names."""
        return self._sources_of(passed, self._input_paths(passed))

    def _sources_of(self, passed: PassedCall, paths: Iterable[Path]) -> Sequence[str]:
        found: list[str] = []
        for path in paths:
            found += self.files.sources_of(path)
            if not found and _shows_files(passed.spec) and path.is_file():
                found += self._received(path)
        if _command_of(passed):
            found += _reaches_out(passed)
        return tuple(dict.fromkeys(found))

    def _received(self, path: Path) -> Sequence[str]:
        name = path.name[:80]
        if (is_received_kind(path.name) or lies_in_downloads(path)) and not self.files.is_own(path):
            return [f"file {name}"]
        return []

    def _input_paths(self, passed: PassedCall) -> Iterator[Path]:
        formats = property_formats(passed.spec)
        outputs = _OUTPUTS.get(passed.spec.name, _USUAL_OUTPUTS)
        for name, value in passed.call.arguments.items():
            if formats.get(name) == "path" and name not in outputs:
                yield from (self._find_path(text) for text in _texts(value))
        command = _command_of(passed)
        if command:
            from skales.security.shell_paths import named_paths  # loaded with the first command, not with the program

            folder = self._find_path(as_text(passed.call.arguments.get("cwd")) or ".")
            yield from (folder / Path(text).expanduser() for text in named_paths(command) if "\0" not in text)

    def _listed(self, passed: PassedCall, result: ToolResult, paths: Iterable[Path]) -> Iterator[str]:
        """A folder shows of its files what stands in the result: their names, or their text beside them."""
        folders = [path for path in paths if path.is_dir()]
        if not folders and passed.spec.name in _NAMES_ONLY | {"search_in_files"}:
            folders = [self._find_path(".")]
        for entry in (entry for folder in folders for entry in self.files.below(folder)):
            name = Path(entry.path).name
            if (passed.spec.name not in _NAMES_ONLY or _speaks(name)) and name in result.text:
                yield from entry.sources

    def _kept_sources(self, passed: PassedCall, result: ToolResult) -> Iterator[str]:
        """Notes of the program, found notes of a vault, and other conversations."""
        kind = _READERS.get(passed.spec.name)
        if kind:
            yield from self.files.noted_in(kind, f"{result.text}\n{as_text(passed.call.arguments.get('name'))}")
        if passed.spec.name == "search_sessions":
            for word in dict.fromkeys(result.text.replace("(", " ").replace(")", " ").split()):
                if word.startswith("session_"):
                    yield from self.marks.of(SessionId(word.strip(".,:;`'\"[]"))).sources
        path = as_text(as_object(result.data).get("path"))
        if path and Path(path).is_absolute() and Effect.READS_PRIVATE in passed.spec.effects:
            yield from self.files.sources_of(Path(path))

    # --- what was written ---

    def _remember(self, passed: PassedCall, result: ToolResult, sources: Sequence[str], began_ms: int) -> None:
        spec, arguments = passed.spec, passed.call.arguments
        if spec.name in _CARRIERS and not result.is_error:
            target = Path(result.files[0]) if result.files else self._find_path(as_text(arguments.get("destination")))
            self.files.follow(self._find_path(as_text(arguments.get("source"))), target)
        if Effect.WRITES not in spec.effects:
            return
        made = [Path(text) for text in result.files]
        if not sources:
            self._remember_own(passed, made)
            return
        if spec.name in _KEEPERS and not result.is_error:
            kind, argument = _KEEPERS[spec.name]
            token = as_text(arguments.get(argument)) if argument else as_text(as_object(result.data).get("id"))
            self.files.note(kind, token, sources)
        if spec.name in _CARRIERS and not self.files.sources_of(self._find_path(as_text(arguments.get("source")))):
            # What is the person's own stays so when it is only moved.
            return
        folders = [path for path in made if path.is_dir()]
        if _command_of(passed) or "python" in arguments:
            folders.append(self._find_path("."))
        changed = _changed_below(folders, began_ms / 1000 - _CLOCK_SLACK_S)
        self.files.add([*(path for path in made if not path.is_dir()), *changed], sources)

    def _remember_own(self, passed: PassedCall, made: Sequence[Path]) -> None:
        if passed.spec.name == "write_file":
            self.files.forget(made)
        elif passed.spec.category == "productivity":
            self.files.add([path for path in made if is_received_kind(path.name)], ())

    def _find_path(self, text: str) -> Path:
        try:
            return (self.workspace / Path(text).expanduser()).resolve()
        except (OSError, RuntimeError, ValueError):
            return self.workspace / "\N{REPLACEMENT CHARACTER}"


def links_of(result: ToolResult) -> list[str]:
    """The addresses that a web search found, as the search engine gave them."""
    rows = [as_object(row) for row in as_list(as_object(result.data).get("results"))]
    return [address for row in rows if (address := as_text(row.get("url")))]


def _show_plainly(result: ToolResult) -> ToolResult:
    """The result without characters that no reader can see, and with a line that says so."""
    text, hidden = strip_invisible(result.text)
    summary, _ = strip_invisible(result.summary)
    if hidden:
        text = f"{text}\n[{hidden} invisible characters were taken out of this result]"
    return replace(result, text=text, summary=summary, data=_stripped(result.data))


def _stripped(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return strip_invisible(value)[0]
        case Mapping():
            return {strip_invisible(key)[0]: _stripped(member) for key, member in value.items()}
        case Sequence():
            return [_stripped(member) for member in value]
        case _:
            return value


def _command_of(passed: PassedCall) -> str:
    formats = property_formats(passed.spec)
    texts = [as_text(passed.call.arguments.get(name)) for name, kind in formats.items() if kind == "shell-command"]
    return "\n".join(text for text in texts if text)


def _reaches_out(passed: PassedCall) -> Iterator[str]:
    """A command that may use the network, or is made for it, shows what others answered."""
    command = _command_of(passed)
    if passed.call.arguments.get("network") or _NETWORK_WORDS.search(command):
        first = next(iter(command.split()), "a script")
        yield f"output of {os.path.basename(first)[:40]} from the network"  # noqa: PTH119 - a word, not a path


def _shows_files(spec: ToolSpec) -> bool:
    """Whether the result shows what is in the files that the call names; unpacking shows the names in an archive."""
    return Effect.READS_PRIVATE in spec.effects or spec.name == "extract_archive"


def _speaks(name: str) -> bool:
    """Whether a file's name is long enough to tell somebody what to do."""
    return len(name) > _LONG_NAME or len(name.replace("_", " ").replace("-", " ").split()) >= _MANY_WORDS


def _changed_below(folders: Iterable[Path], since_s: float) -> list[Path]:
    """Files that were made, changed or moved there since; of very many the folders below instead."""
    found: list[Path] = []
    for folder in folders:
        changed = list(islice(_changed_files(folder, since_s), _MOST_CHANGED))
        if len(changed) > _MOST_FILES:
            # Not the folder itself, in which much else lies.
            changed = list(dict.fromkeys(path if path.parent == folder else path.parent for path in changed))
        found += changed[:_MOST_FILES]
    return found


def _changed_files(folder: Path, since_s: float) -> Iterator[Path]:
    for place, names, files in os.walk(folder):
        names[:] = [name for name in names if name != ".git"]
        for name in files:
            path = Path(place, name)
            try:
                seen = path.lstat()
            except OSError:
                continue
            if max(seen.st_ctime, seen.st_mtime) >= since_s:
                yield path


def _texts(value: JsonValue) -> list[str]:
    return [value] if isinstance(value, str) else [text for item in as_list(value) if (text := as_text(item))]
