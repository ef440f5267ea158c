"""Reads a shell command into pipelines, words and redirects. Runs nothing, expands nothing.

Reads more than the shell would: what stands where a command may stand counts as one, also behind a syntax error, since
shells run the lines before it. What is odd or beyond us is named as a fault, and whoever asks must not trust the rest.
Grammar: POSIX.1-2017, Shell Command Language, and what bash adds.
"""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from skales.security.shell_quotes import decode_ansi_c, find_backtick_end, unescape_backtick
from skales.security.shell_tree import Command, Function, Group, HereDocument, Pipeline, Redirect, Script, Stage, Word

# Nobody nests deeper by hand; the reader's own stack must hold.
_MAX_DEPTH = 24

_META = frozenset(" \t\n\r;&|<>()")
_BARE = re.compile(r"(?:[A-Za-z]+|[{}!]|\[\[)(?=[ \t\n\r;&|<>()]|\Z)")
_FILE_NUMBER = re.compile(r"(?:[0-9]+|\{[A-Za-z_]\w*\})(?=[<>])")
_REDIRECT = re.compile(r"<<<|<<-?|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_BRACED = re.compile(r"[!#]?(?:[A-Za-z_]\w*|[0-9]+|[@*#?$!-])")
_PATTERN = re.compile(r"[*?\[]|\{.*(?:,|\.\.).*\}", re.DOTALL)
_PLAIN = re.compile(r"[^ \t\n\r;&|<>()'\"\\$`]+")
_PLAIN_IN_DOUBLE = re.compile(r"[^\"\\$`]+")

# Keyword → what ends it. Keywords in between (`then`, `do` …) only begin the next command.
_CLOSERS = {"{": "}", "if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac"}
_BETWEEN = frozenset({"then", "elif", "else", "do"})
_PREFIXES = frozenset({"!", "time", "coproc"})


@dataclass(frozen=True, slots=True)
class Scan:
    """The script and what was odd about it; with faults, there may be more in the text than in the script."""

    script: Script
    faults: tuple[str, ...]


def scan_command(text: str) -> Scan:
    """Read a whole command line or script. Never raises."""
    reader = _Reader(text, 0, [])
    script = reader.read_all()
    return Scan(script, tuple(dict.fromkeys(reader.faults)))


class _Reader:
    """A cursor in a text; faults are shared with the readers of texts inside it."""

    def __init__(self, text: str, depth: int, faults: list[str]) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.faults = faults
        self.documents: list[HereDocument] = []
        self.functions: list[Function] = []
        # Inside arithmetic `<<` shifts; as a here-document it would swallow the lines below.
        self.arithmetic = 0

    def read_all(self) -> Script:
        script = self._read_script(frozenset())
        if self.documents:
            self._fault("a here-document without lines")
        return script

    def read_document(self) -> Word:
        """The text as lines of a here-document, where quotes mean nothing."""
        return self._finish_word(*self._read_double(ends=False))

    # --- scripts, pipelines, stages ---------------------------------------------------------------------------------

    def _read_script(self, stop: AbstractSet[str]) -> Script:
        """Pipelines up to, not including, one of the keywords or signs in `stop`, or the end of the text."""
        outer, self.functions = self.functions, []
        pipelines: list[Pipeline] = []
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self._fault("nesting too deep to read")
            self.at = len(self.text)
        while self._skip_separators(stop):
            before = self.at
            pipeline = self._read_pipeline()
            if pipeline.stages:
                pipelines.append(pipeline)
            if self.at == before:
                self._fault(f"an unexpected {self.text[self.at]!r}")
                self.at += 1
        self.depth -= 1
        inner, self.functions = self.functions, outer
        return Script(tuple(pipelines), tuple(inner))

    def _skip_separators(self, stop: AbstractSet[str]) -> bool:
        """Go to the next command; False at a stop or at the end."""
        while True:
            self._skip_blanks()
            if self.at >= len(self.text):
                return False
            if self._looking_at(";;") or self._looking_at(";&"):
                if ";;" in stop:
                    return False
                self._fault("a case sign outside case")
                self.at += 1
            elif self._char() == ")":
                if ")" in stop:
                    return False
                self._fault("an unexpected ')'")
                self.at += 1
            elif self._char() in ";&" and not self._looking_at("&>"):
                self.at += 1
            elif self._char() == "\n":
                self._end_line()
            else:
                bare = self._bare()
                if bare in stop:
                    return False
                if bare not in _BETWEEN:
                    return True
                self.at += len(bare)

    def _read_pipeline(self) -> Pipeline:
        stages: list[Stage] = []
        while True:
            self._skip_prefixes()
            stage = self._read_stage()
            if stage is not None:
                stages.append(stage)
            self._skip_blanks()
            if self._char() != "|" or self._looking_at("||"):
                break
            self.at += 2 if self._looking_at("|&") else 1
            self._skip_lines()
        background = self._char() == "&" and not self._looking_at("&&")
        self.at += 2 if self._looking_at("&&") or self._looking_at("||") else 0
        return Pipeline(tuple(stages), background)

    def _skip_prefixes(self) -> None:
        """`!` and `time` change nothing for a judge."""
        self._skip_blanks()
        while (bare := self._bare()) in _PREFIXES:
            if bare == "coproc":
                self._fault("coproc")
            self.at += len(bare)
            self._skip_blanks()
            if bare == "time" and re.compile(r"-p(?=\s)").match(self.text, self.at):
                self.at += 2
                self._skip_blanks()

    def _read_stage(self) -> Stage | None:
        bare = self._bare()
        if self._char() == "(":
            return self._read_group(1, ")")
        match bare:
            case "{" | "if" | "while" | "until":
                return self._read_group(len(bare), _CLOSERS[bare])
            case "for" | "select":
                return self._read_loop(len(bare))
            case "case":
                return self._read_case()
            case "function":
                self.at += len(bare)
                self._skip_blanks()
                return self._read_function(self._read_word().text)
            case "[[":
                return self._read_condition()
            case _:
                return self._read_simple()

    def _read_group(self, opener: int, closer: str, words: tuple[Word, ...] = ()) -> Group:
        is_arithmetic = self._looking_at("((")
        if is_arithmetic:
            self._fault("arithmetic")
        self.arithmetic += is_arithmetic
        self.at += opener
        script = self._read_script({closer})
        self.arithmetic -= is_arithmetic
        self._expect(closer)
        return Group(script, words, tuple(self._read_redirects()))

    def _read_loop(self, keyword: int) -> Group:
        self.at += keyword
        self._skip_blanks()
        if self._char() == "(":
            self._read_group(1, ")")
            return self._read_group(0, "done")
        words = [self._read_word()]
        self._skip_lines()
        if self._bare() == "in":
            self.at += 2
            words += self._read_words()
        return self._read_group(0, "done", tuple(words))

    def _read_case(self) -> Group:
        self.at += len("case")
        self._skip_blanks()
        words = [self._read_word()]
        self._skip_lines()
        self._expect("in")
        pipelines: list[Pipeline] = []
        while self._skip_lines() and self._bare() != "esac":
            self.at += self._char() == "("
            patterns = self._read_words(also="|")
            words += patterns
            if self._char() != ")":
                self._fault("case without a pattern")
                break
            self.at += 1
            pipelines += self._read_clause()
        self._expect("esac")
        return Group(Script(tuple(pipelines)), tuple(words), tuple(self._read_redirects()))

    def _read_clause(self) -> tuple[Pipeline, ...]:
        script = self._read_script({";;", "esac"})
        sign = re.compile(r";;&?|;&").match(self.text, self.at)
        self.at = sign.end() if sign else self.at
        return (*script.pipelines, *(Pipeline((function.body,)) for function in script.functions))

    def _read_function(self, name: str) -> Group | None:
        """The body after a function's name; it is no stage of the pipeline, since it does not run yet."""
        parentheses = re.compile(r"[ \t]*\([ \t]*\)").match(self.text, self.at)
        self.at = parentheses.end() if parentheses else self.at
        self._skip_lines()
        body = self._read_stage()
        if body is None:
            self._fault("a function without a body")
        else:
            self.functions.append(Function(name, body))
        return None

    def _read_condition(self) -> Command:
        """`[[ … ]]`: signs in it compare, they do not redirect."""
        words: list[Word] = []
        while self._skip_lines() and (not words or words[-1].text != "]]"):
            if self._char() in _META:
                self.at += 1
            else:
                words.append(self._read_word())
        if not words or words[-1].text != "]]":
            self._fault("an unfinished [[")
        return Command(tuple(words), (), tuple(self._read_redirects()))

    # --- simple commands --------------------------------------------------------------------------------------------

    def _read_simple(self) -> Stage | None:
        words: list[Word] = []
        assignments: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            redirects += self._read_redirects()
            char = self._char()
            if char == "(":
                if len(words) == 1 and re.compile(r"\([ \t]*\)").match(self.text, self.at):
                    return self._read_function(words[0].text)
                self._fault("an unexpected '('")
            if char in _META and not (char in ("<", ">") and not self.arithmetic):
                break
            if char in ("<", ">") and not self.text.startswith("(", self.at + 1):
                break
            is_assignment = not words and _ASSIGNMENT.match(self.text, self.at) is not None
            (assignments if is_assignment else words).append(self._read_word())
        if not (words or assignments or redirects):
            return None
        return Command(tuple(words), tuple(assignments), tuple(redirects))
