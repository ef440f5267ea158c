"""Reads a shell command into pipelines, words and redirects. Runs nothing, expands nothing.

Reads more than the shell would: what stands where a command may stand counts as one, also behind a syntax error, since
shells run the lines before it. What is odd or beyond us is named as a fault; then there may be more in the text than
in the script. Grammar: POSIX.1-2017, Shell Command Language, and what bash adds.
"""

import re
from collections.abc import Set as AbstractSet

from msgspec import Struct

from skales.security.invisible import strip_invisible
from skales.security.shell_tree import Command, Function, Group, HereDocument, Pipeline, Redirect, Script, Stage, Word
from skales.security.shell_words import WordReader

# Linux takes at most 128 KiB as one argument (MAX_ARG_STRLEN), and nobody can read more before they say yes.
MAX_COMMAND = 131_072

_KEYWORD = re.compile(r"(?:[a-z]+|[{}!])(?=[ \t\n\r;&|<>()]|\Z)")
_FILE_NUMBER = re.compile(r"(?:[0-9]+|\{[A-Za-z_]\w*\})(?=[<>])")
_REDIRECT = re.compile(r"<<<|<<-?|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>")
_COMPARISON = re.compile(r"[<>]+(?!\()")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]\s]*\])?\+?=", re.ASCII)
_NO_ARGUMENTS = re.compile(r"\([ \t]*\)")
_CASE_SIGN = re.compile(r";;&?|;&")
_TIME_OPTION = re.compile(r"-p(?=[ \t])")

# Keyword → what ends its commands. Those in between (`then`, `do` …) only begin the next command.
_CLOSERS = {"{": "}", "if": "fi", "while": "done", "until": "done"}
_BETWEEN = frozenset({"then", "elif", "else", "do"})
_PREFIXES = frozenset({"!", "time", "coproc"})


class Scan(Struct, frozen=True):
    """The script and, in words, what in the text was not understood."""

    script: Script
    faults: tuple[str, ...]


def scan_command(text: str) -> Scan:
    """Read a whole command line or script. Never raises."""
    faults: list[str] = []
    if len(text) > MAX_COMMAND:
        return Scan(Script(), ("the command is too long",))
    if strip_invisible(text)[1] or any(char.isspace() and char not in " \t\n\r" for char in text):
        faults.append("characters that cannot be seen")
    reader = _CommandReader(text, 0, faults)
    script = reader.read_script(frozenset())
    if reader.documents:
        faults.append("a here-document without lines")
    return Scan(script, tuple(dict.fromkeys(faults)))


class _CommandReader(WordReader):
    def __init__(self, text: str, depth: int, faults: list[str]) -> None:
        super().__init__(text, depth, faults)
        self._functions: list[Function] = []

    def reader_inside(self, text: str) -> "_CommandReader":
        return _CommandReader(text, self.depth, self.faults)

    def read_script(self, stop: AbstractSet[str]) -> Script:
        outer, self._functions = self._functions, []
        pipelines: list[Pipeline] = []
        self.deepen()
        is_arithmetic = stop == {")"} and self.looking_at("(")
        if is_arithmetic:
            self.fault("arithmetic")
        self.arithmetic += is_arithmetic
        while self._skip_to_command(stop):
            before = self.at
            pipeline = self._read_pipeline()
            if pipeline.stages:
                pipelines.append(pipeline)
            # Whatever stands here, the reader goes on.
            self.at += self.at == before
        self.arithmetic -= is_arithmetic
        self.depth -= 1
        inner, self._functions = self._functions, outer
        return Script(tuple(pipelines), tuple(inner))

    def _skip_to_command(self, stop: AbstractSet[str]) -> bool:
        """Go to where the next command begins; False at a stop or at the end."""
        while self.skip_lines():
            if self._at_stop(stop):
                return False
            keyword = self._keyword()
            if self.char() in ";&)" and (self.arithmetic or not self.looking_at("&>")):
                self.at += 1
            elif keyword in _BETWEEN:
                self.at += len(keyword)
            else:
                return True
        return False

    def _at_stop(self, stop: AbstractSet[str]) -> bool:
        """Whether a stop is here. A closing sign that closes nothing is a fault."""
        if self._keyword() in stop or (self.char() == ")" and ")" in stop):
            return True
        case_sign = _CASE_SIGN.match(self.text, self.at)
        if case_sign and ";;" in stop:
            return True
        if case_sign or self.char() == ")" or self._keyword() in ("}", "fi", "done", "esac"):
            self.fault("a sign that closes nothing")
        return False

    def _keyword(self) -> str:
        """The keyword a command may begin with, if one stands here."""
        match = _KEYWORD.match(self.text, self.at)
        return match[0] if match else ""

    def _read_pipeline(self) -> Pipeline:
        stages: list[Stage] = []
        start = self.at
        self._skip_prefixes()
        prefixed = self.at > start
        while True:
            self._skip_prefixes()
            stage = self._read_stage()
            if stage is not None:
                stages.append(stage)
            self.skip_blanks()
            if self.char() != "|" or self.looking_at("||"):
                break
            if stage is None:
                self.fault("a pipe without a command")
            self.at += 2 if self.looking_at("|&") else 1
            self.skip_lines()
        joined = self.looking_at("&&") or self.looking_at("||")
        background = self.char() == "&" and not joined
        self.at += 2 if joined else 0
        return Pipeline(tuple(stages), not (prefixed or joined or background), background)

    def _skip_prefixes(self) -> None:
        """`!` and `time` change nothing for a judge."""
        while (keyword := self._keyword()) in _PREFIXES:
            if keyword == "coproc":
                self.fault("coproc")
            self.at += len(keyword)
            self.skip_blanks()
            if keyword == "time" and self.take(_TIME_OPTION):
                self.skip_blanks()

    def _read_stage(self) -> Stage | None:
        keyword = self._keyword()
        if self.char() == "(":
            return self._read_group(1, ")")
        match keyword:
            case "{" | "if" | "while" | "until":
                return self._read_group(len(keyword), _CLOSERS[keyword])
            case "for" | "select":
                return self._read_loop(len(keyword))
            case "case":
                return self._read_case()
            case "function":
                self.at += len(keyword)
                self.skip_blanks()
                self._read_function(self.read_word().text)
                return None
            case _:
                return self._read_simple()

    def _read_group(self, opener: int, closer: str, words: tuple[Word, ...] = ()) -> Group:
        self.at += opener
        script = self.read_script({closer})
        self.expect(closer)
        return Group(script, words, tuple(self._read_redirects()))

    def _read_loop(self, keyword: int) -> Group:
        self.at += keyword
        self.skip_blanks()
        if self.char() == "(":
            head = self._read_group(1, ")")
            body = self._read_group(0, "done")
            return Group(Script((Pipeline((head,)), Pipeline((body,)))), (), body.redirects)
        words = [self.read_word()]
        self.skip_lines()
        if self._keyword() == "in":
            self.at += len("in")
            words += self.read_words()
        return self._read_group(0, "done", tuple(words))

    def _read_case(self) -> Group:
        self.at += len("case")
        self.skip_blanks()
        words = [self.read_word()]
        self.skip_lines()
        self.expect("in")
        clauses: list[Script] = []
        while self.skip_lines() and self._keyword() != "esac":
            self.at += self.char() == "("
            words += self.read_words(also="|")
            if self.char() != ")":
                break
            self.at += 1
            clauses.append(self.read_script({";;", "esac"}))
            self.take(_CASE_SIGN)
        self.expect("esac")
        script = Script(
            tuple(pipeline for clause in clauses for pipeline in clause.pipelines),
            tuple(function for clause in clauses for function in clause.functions),
        )
        return Group(script, tuple(words), tuple(self._read_redirects()))

    def _read_function(self, name: str) -> None:
        """The body after a function's name; it is no stage of the pipeline, since it does not run yet."""
        self.deepen()
        self.skip_blanks()
        self.take(_NO_ARGUMENTS)
        self.skip_lines()
        body = self._read_stage()
        self.depth -= 1
        if body is None:
            self.fault("a function without a body")
        else:
            self._functions.append(Function(name, body))

    def _read_simple(self) -> Command | None:
        words: list[Word] = []
        assignments: list[Word] = []
        redirects = self._read_redirects()
        while self.at_word():
            is_assignment = not words and _ASSIGNMENT.match(self.text, self.at) is not None
            (assignments if is_assignment else words).append(self.read_word())
            redirects += self._read_redirects()
        if self.char() == "(":
            if len(words) == 1 and _NO_ARGUMENTS.match(self.text, self.at):
                self._read_function(words[0].text)
                return None
            self.fault("an unexpected parenthesis")
        return (
            Command(tuple(words), tuple(assignments), tuple(redirects)) if words or assignments or redirects else None
        )

    def _read_redirects(self) -> list[Redirect]:
        redirects: list[Redirect] = []
        self.skip_blanks()
        while True:
            if self.arithmetic:
                self.take(_COMPARISON)
            self.take(_FILE_NUMBER)
            operator = None if self.arithmetic else self.take(_REDIRECT)
            if operator is None:
                return redirects
            self.skip_blanks()
            redirects.append(self._read_target(operator[0]))
            self.skip_blanks()

    def _read_target(self, operator: str) -> Redirect:
        start = self.at
        target = self.read_word()
        if self.at == start:
            self.fault("a redirect to nothing")
        if operator not in ("<<", "<<-"):
            return Redirect(operator, target)
        raw = self.text[start : self.at]
        if not target.known or "$" in raw:
            self.fault("a here-document with an odd end")
        document = HereDocument(target.text, not re.search(r"[\\'\"]", raw), operator == "<<-")
        self.documents.append(document)
        return Redirect(operator, Word(""), document)
