"""Reads the words of a shell command: quotes, parameters, substitutions. `shell_scan` reads what words make up.

bashlex was tried and loses code without a word (`'a'"$(rm x)"'b'`), so words are read here. Spec: POSIX.1-2017,
Shell Command Language, 2.2, 2.3 and 2.6; bash(1), QUOTING and EXPANSION.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from skales.security.shell_quotes import decode_ansi_c, unescape_backtick
from skales.security.shell_tree import HereDocument, Script, Word

META = frozenset(" \t\n\r;&|<>()")

_BARE = re.compile(r"[^ \t\n\r;&|<>()'\"\\$`]+")
_BARE_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_SINGLE = re.compile(r"'([^']*)'")
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")
_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*|[0-9@*#?$!-])", re.ASCII)
_BRACED = re.compile(r"\$\{([!#]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])", re.ASCII)
_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=", re.ASCII)
_PATTERN = re.compile(r"[*?]|\[.+\]|\{.*(?:,|\.\.).*\}", re.DOTALL)
# Nobody nests deeper by hand; the reader's own stack must hold.
_MAX_DEPTH = 24
# Stands in a word's shape for whatever is quoted or computed, so that it is no wildcard and no tilde.
_QUOTED = "\0"


class _Draft(Struct):
    """A word under way. `shape` has the unquoted characters only."""

    text: str = ""
    shape: str = ""
    known: bool = True
    scripts: list[Script] = field(default_factory=lambda: list[Script]())

    def add(self, text: str, *, quoted: bool) -> None:
        self.text += text
        self.shape += _QUOTED if quoted else text

    def compute(self, shown: str, *scripts: Script) -> None:
        self.text += shown
        self.shape += _QUOTED
        self.known = False
        self.scripts += scripts

    def finish(self) -> Word:
        return Word(
            self.text, self.known, bool(_PATTERN.search(self.shape)), self.shape.startswith("~"), tuple(self.scripts)
        )


class WordReader(ABC):
    """A cursor in a command's text. Readers of texts inside it share its list of faults."""

    def __init__(self, text: str, depth: int, faults: list[str]) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.faults = faults
        self.documents: list[HereDocument] = []
        # Inside arithmetic `<<` shifts and `#` names a base; elsewhere both would hide what follows.
        self.arithmetic = 0

    @abstractmethod
    def read_script(self, stop: AbstractSet[str]) -> Script:
        """Commands up to, not including, a keyword or sign of `stop`."""

    @abstractmethod
    def reader_inside(self, text: str) -> "WordReader":
        """A reader of a text that stands inside this one."""

    def fault(self, words: str) -> None:
        """Note that something was not understood."""
        self.faults.append(words)

    def deepen(self) -> None:
        """Go one level of nesting down; too deep, the rest of the text is left unread."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.fault("nesting too deep to read")
            self.at = len(self.text)

    def char(self) -> str:
        """The character at the cursor, empty at the end."""
        return self.text[self.at : self.at + 1]

    def looking_at(self, sign: str) -> bool:
        """Whether the text goes on with `sign`."""
        return self.text.startswith(sign, self.at)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over what the pattern matches here."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match

    def expect(self, sign: str) -> None:
        """Step over a closing sign."""
        if self.looking_at(sign):
            self.at += len(sign)
        else:
            self.fault(f"{sign!r} is missing")

    def skip_blanks(self) -> None:
        """Step over blanks, continued lines and a comment; only where a word may begin."""
        while self.take(_BLANKS) or self._take_comment() or self._take_carriage_return():
            pass

    def skip_lines(self) -> bool:
        """Step over blanks and line ends; False at the end of the text."""
        self.skip_blanks()
        while self.char() == "\n":
            self.end_line()
            self.skip_blanks()
        return self.at < len(self.text)

    def at_word(self) -> bool:
        """Whether a word begins here; a process substitution is one."""
        char = self.char()
        return char != "" and (char not in META or self.looking_at("<(") or self.looking_at(">("))

    def read_words(self, also: str = "") -> list[Word]:
        """Words up to a sign; the signs in `also` are stepped over."""
        words: list[Word] = []
        self.skip_blanks()
        while self.at_word() or (self.char() and self.char() in also):
            if self.at_word():
                words.append(self.read_word())
            else:
                self.at += 1
            self.skip_blanks()
        return words

    def read_word(self) -> Word:
        """The word at the cursor; an empty one where none begins."""
        draft = _Draft()
        while self.at_word() or (self.char() == "(" and _ARRAY.fullmatch(draft.shape)):
            self._read_piece(draft)
        return draft.finish()

    def read_document(self) -> Word:
        """The whole text as lines of a here-document, where quotes mean nothing."""
        draft = _Draft()
        while self.char():
            self._read_double_piece(draft, ends=False)
        return draft.finish()

    def end_line(self) -> None:
        """Step over a line end and the here-documents that begin behind it."""
        self.at += 1
        documents, self.documents = self.documents, []
        for document in documents:
            body = self._take_document(document)
            document.body = self.reader_inside(body).read_document() if document.expands else Word(body)

    def _take_document(self, document: HereDocument) -> str:
        lines: list[str] = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            line = self.text[self.at : end if end >= 0 else len(self.text)]
            self.at += len(line) + 1
            line = line.lstrip("\t") if document.strips_tabs else line
            if line == document.delimiter:
                return "".join(lines)
            lines.append(line + "\n")
        self.fault("a here-document without an end")
        self.at = len(self.text)
        return "".join(lines)

    def _take_comment(self) -> bool:
        return not self.arithmetic and self.take(_COMMENT) is not None

    def _take_carriage_return(self) -> bool:
        """Shells take it for a letter, editors for part of the line end; so nobody knows what is meant."""
        if self.char() != "\r":
            return False
        self.fault("a carriage return")
        self.at += 1
        return True

    def _read_piece(self, draft: _Draft) -> None:
        match self.char():
            case "'":
                self._read_single(draft)
            case '"':
                self._read_double(draft)
            case "\\":
                self._read_escape(draft)
            case "$":
                self._read_dollar(draft, in_double=False)
            case "`":
                self._read_backticks(draft)
            case "<" | ">":
                self.at += 2
                draft.compute("<()", self._read_inner_script())
            case "(":
                self.at += 1
                self.deepen()
                elements = self.read_words(also="\n")
                self.depth -= 1
                self.expect(")")
                draft.compute("()", *(script for element in elements for script in element.scripts))
            case _:
                plain = self.take(_BARE)
                assert plain is not None, "every other character is a plain one"
                draft.add(plain[0], quoted=False)

    def _read_single(self, draft: _Draft) -> None:
        quoted = self.take(_SINGLE)
        if quoted is None:
            self._take_rest(draft)
        else:
            draft.add(quoted[1], quoted=True)

    def _read_escape(self, draft: _Draft) -> None:
        escaped = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if escaped == "":
            self.fault("a backslash at the end")
            draft.add("\\", quoted=True)
        elif escaped != "\n":
            draft.add(escaped, quoted=True)

    def _read_double(self, draft: _Draft) -> None:
        self.at += 1
        draft.add("", quoted=True)
        while self.char() and self.char() != '"':
            self._read_double_piece(draft, ends=True)
        self.expect('"')

    def _read_double_piece(self, draft: _Draft, *, ends: bool) -> None:
        """A piece between double quotes, or (`ends` false) of a here-document."""
        match self.char():
            case "$":
                self._read_dollar(draft, in_double=True)
            case "`":
                self._read_backticks(draft)
            case "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                self.at += 2
                special = escaped in ("$", "`", "\\", '"' if ends else "$")
                draft.add("" if escaped == "\n" else escaped if special else f"\\{escaped}", quoted=True)
            case '"':
                self.at += 1
                draft.add('"', quoted=True)
            case _:
                plain = self.take(_BARE_IN_DOUBLE)
                assert plain is not None, "every other character is a plain one"
                draft.add(plain[0], quoted=True)

    def _read_dollar(self, draft: _Draft, *, in_double: bool) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "(":
            self.at += 2
            draft.compute("$()", self._read_inner_script())
        elif following == "{":
            self._read_braced(draft, in_double=in_double)
        elif following == "'" and not in_double:
            self._read_ansi_c(draft)
        elif following == '"' and not in_double:
            self.at += 1
        elif parameter := self.take(_PARAMETER):
            draft.compute(f"${parameter[1]}")
        else:
            if following == "[":
                self.fault("arithmetic")
            self.at += 1
            draft.add("$", quoted=True)

    def _read_inner_script(self) -> Script:
        script = self.read_script({")"})
        self.expect(")")
        return script

    def _read_ansi_c(self, draft: _Draft) -> None:
        quoted = self.take(_ANSI_C)
        if quoted is None:
            self._take_rest(draft)
        else:
            draft.add(decode_ansi_c(quoted[1]), quoted=True)

    def _read_braced(self, draft: _Draft, *, in_double: bool) -> None:
        """`${NAME…}`, shown as `$NAME`; what stands behind the name may hold substitutions."""
        self.deepen()
        name = self.take(_BRACED)
        if name is None:
            # `${ command; }` runs in newer shells.
            self.at += 2
            self.fault("a substitution in braces")
            draft.compute("$()", self.read_script({"}"}))
        else:
            if name[1] == "!" or self.looking_at("@"):
                self.fault("a parameter whose value is read as code")
            inner = _Draft()
            quotes = '"\\$`' if in_double else "'\"\\$`"
            while self.char() and self.char() != "}":
                if self.char() in quotes:
                    self._read_piece(inner)
                else:
                    self.at += 1
            draft.compute(f"${name[2]}", *inner.scripts)
        self.depth -= 1
        self.expect("}")

    def _read_backticks(self, draft: _Draft) -> None:
        quoted = self.take(_BACKTICKS)
        if quoted is None:
            self._take_rest(draft)
        else:
            inside = self.reader_inside(unescape_backtick(quoted[1]))
            draft.compute("$()", inside.read_script(frozenset()))
            if inside.documents:
                self.fault("a here-document without lines")

    def _take_rest(self, draft: _Draft) -> None:
        self.fault("an unfinished quote")
        draft.compute(self.text[self.at :])
        self.at = len(self.text)
