"""The text of a SKILL.md: read forgivingly from disk, checked strictly before a new one is kept, and composed.

Pure. Spec: skills.md, "SKILL.md rules", "Import"; SKL-01, SKL-02.
"""

import json
import re

from msgspec import Struct

from skales.core.errors import InputError
from skales.data.frontmatter import FrontMatterError, read_front, split_front_matter, text_of

# What a new skill may hold.
MOST_NEW_BYTES = 48 * 1024
_MANIFEST_CHARS = 160
FOLDER_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")


class Skill(Struct, frozen=True, kw_only=True):
    """One skill. `folder` finds it; `is_user_invoked` says that only a person may call for it."""

    folder: str
    name: str
    description: str
    body: str
    category: str = ""
    license: str = ""
    author: str = ""
    source: str = ""
    is_user_invoked: bool = False
    is_enabled: bool = True

    @property
    def manifest_line(self) -> str:
        """Name and description on one line, as a list of skills shows it."""
        words = " ".join(self.description.split())
        short = words if len(words) <= _MANIFEST_CHARS else f"{words[: _MANIFEST_CHARS - 1]}…"
        return f"{self.name}: {short}" if short else self.name


def parse_skill(folder: str, text: str, *, is_enabled: bool = True) -> Skill:
    """The skill a SKILL.md describes, forgivingly: a missing name is the folder's. Raises FrontMatterError."""
    parts = split_front_matter(text)
    if parts.front is None:
        raise FrontMatterError("It does not begin with front matter between two lines of ---")
    front = read_front(parts.front)
    is_for_people = text_of(front, "disable-model-invocation").lower() == "true"
    return Skill(
        folder=folder,
        name=text_of(front, "name") or folder,
        description=text_of(front, "description"),
        body=_trimmed(parts.body),
        category=text_of(front, "metadata", "category"),
        license=text_of(front, "license"),
        author=text_of(front, "author"),
        source=text_of(front, "source"),
        is_user_invoked=is_for_people or text_of(front, "metadata", "invocation").lower() == "user",
        is_enabled=is_enabled,
    )


def validate_skill(text: str) -> Skill:
    """The skill of a text that is to be imported, after the strict rules. Raises InputError with what is wrong."""
    if len(text.encode(errors="replace")) > MOST_NEW_BYTES:
        raise InputError(f"The skill is larger than {MOST_NEW_BYTES // 1024} KB", code="bad_skill")
    skill = parse_skill("", text)
    if not skill.name:
        raise InputError("The skill has no name", hint="Add a name: line to its front matter", code="bad_skill")
    if any(letter.isspace() for letter in skill.name):
        raise InputError(f"The name {skill.name!r} holds a blank", hint="Use hyphens instead", code="bad_skill")
    if not skill.description:
        raise InputError("The skill has no description", hint="Say in one sentence when it helps", code="bad_skill")
    if not skill.body:
        raise InputError(
            "The skill has no text", hint="Write the instructions below its front matter", code="bad_skill"
        )
    return skill


def compose_skill(name: str, description: str, body: str) -> str:
    """The text of a SKILL.md, validated. Raises InputError."""
    if not FOLDER_NAME.fullmatch(name):
        raise InputError(
            f"{name[:80]!r} cannot name a skill",
            hint="Use up to 64 letters, digits, dots, _ and -, without blanks",
            code="bad_skill",
        )
    if split_front_matter(body).front is not None:
        raise InputError("The body begins with front matter of its own", hint="Give the instructions alone")
    words = " ".join(description.split())
    text = f"---\nname: {_as_value(name)}\ndescription: {_as_value(words)}\n---\n\n{_trimmed(body)}\n"
    found = validate_skill(text)
    if (found.name, found.description) != (name, words):
        raise InputError("The name or description holds characters that no file can keep", code="bad_skill")
    return text


def _as_value(text: str) -> str:
    """As plain text where it reads back the same, else in quotes."""
    try:
        is_plain = text_of(read_front(f"key: {text}"), "key") == text
    except FrontMatterError:
        is_plain = False
    is_simple = is_plain and text[:1].isalnum() and not set(text) & set(":#")
    return text if is_simple else json.dumps(text, ensure_ascii=False)


def _trimmed(body: str) -> str:
    """Without the empty lines around it."""
    lines = body.rstrip().split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    return "\n".join(lines)
