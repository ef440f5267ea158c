"""What a remembered yes to a command may cover: programs and subcommands that only look, and options that do more.

Data and pure questions for `shell`.
"""

import re

from skales.security.shell_call import Call
from skales.security.shell_tree import Word

# Programs that only read and print, whatever their arguments, but for the options below.
_READERS = frozenset(
    {
        "ls", "cat", "grep", "egrep", "fgrep", "rg", "find", "fd", "echo", "head", "tail", "wc", "pwd", "whoami", "id",
        "uname", "tree", "stat", "file", "du", "df", "basename", "dirname", "realpath", "readlink", "sort", "cut", "tr",
        "nl", "which", "diff", "cmp", "comm", "sha256sum", "sha1sum", "md5sum", "cksum", "date", "uptime", "free",
        "nproc", "true", "false", "test", "seq", "cal", "tac", "rev", "fold", "strings", "od", "column", "groups",
    }
)  # fmt: skip
# A wildcard may turn into an option; to these no option matters.
_TAKES_PATTERNS = frozenset({"ls", "cat", "head", "tail", "wc", "stat", "grep", "egrep", "fgrep", "cksum", "nl"})

# Subcommands that show something, or do what they say and no more.
_SUBCOMMANDS = {
    "git": {
        "status", "diff", "log", "show", "branch", "tag", "remote", "blame", "shortlog", "describe", "rev-parse",
        "ls-files", "ls-tree", "add", "commit", "fetch", "pull", "merge-base", "cat-file", "count-objects",
    },
    "npm": {"test", "ls", "list", "outdated", "view"},
    "pnpm": {"test", "ls", "list", "outdated"},
    "yarn": {"test", "list", "outdated", "info"},
    "pip": {"list", "show", "freeze", "check"},
    "pip3": {"list", "show", "freeze", "check"},
    "cargo": {"build", "check", "test", "clippy", "fmt", "doc", "tree", "metadata"},
    "go": {"build", "test", "vet", "fmt", "version", "list", "doc"},
    "docker": {"ps", "images", "logs", "inspect", "version", "info", "stats", "top", "port"},
    "podman": {"ps", "images", "logs", "inspect", "version", "info", "stats", "top", "port"},
    "systemctl": {"status", "is-active", "is-enabled", "list-units", "list-timers"},
    "brew": {"list", "info", "outdated", "search"},
    "apt": {"list", "show", "search", "policy"},
}  # fmt: skip
# `npm run build`: the script's name belongs to the prefix, and what is handed to the script makes it another one.
_SCRIPT_RUNNERS = frozenset({"npm", "pnpm", "yarn"})
_RUNS_SCRIPT = frozenset({"run", "test"})
_QUIET = frozenset({"-s", "--silent", "--if-present", "--"})

# Options and words, by program or subcommand, that start a program, write, delete, or read settings from elsewhere.
_RISKY = {
    "find": "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from",
    "fd": "-x -X --exec --exec-batch", "rg": "--pre --hostname-bin -z --search-zip",
    "sort": "-o -T --output --compress-program --temporary-directory --files0-from", "tree": "-o -R --output",
    "file": "-C -m --compile --magic-file", "date": "-s --set", "wc": "--files0-from", "du": "--files0-from",
    "git": "--upload-pack --receive-pack --exec --output --ext-diff --textconv --config --template --force --delete"
           " --open-files-in-pager --move --copy --edit-description --amend --no-verify --hooks-path -O",
    "git branch": "-d -D -m -M -c -C -f -u --set-upstream-to --unset-upstream", "git tag": "-d -f",
    "git commit": "-F -C -c -t -n --file --reuse-message --reedit-message --pathspec-from-file",
    "git add": "-f -i -p -e --interactive --patch --edit --pathspec-from-file", "git diff": "-o", "git log": "-o",
    "git fetch": "-f -p -P -u -o --prune --prune-tags --server-option", "git pull": "-f -p -o -X -s --strategy --prune",
    "git remote": "add remove rm rename set-url set-head set-branches prune update", "git blame": "--contents",
    "npm": "-C --script-shell --prefix --userconfig --globalconfig --node-options",
    "pnpm": "-C --script-shell --dir --node-options --config", "yarn": "--cwd --use-yarnrc --script-shell",
    "pip": "-i --python --index-url --extra-index-url --log --proxy --cert --path",
    "pip3": "-i --python --index-url --extra-index-url --log --proxy --cert --path",
    "cargo": "-Z -C --config --manifest-path --target-dir --fix --out-dir --artifact-dir",
    "go": "-exec -toolexec -o -overlay -modfile -vettool -C -ldflags -gcflags -asmflags -cpuprofile -memprofile"
          " -blockprofile -mutexprofile -coverprofile -trace -outputdir -pkgdir -mod -w",
    "docker": "-H --host --context --config --tlscacert", "podman": "--url --connection --root",
    "systemctl": "-H -M --host --machine --root --image", "apt": "-o -c --option --config-file",
}  # fmt: skip

_FAR = re.compile(r"[/~\\]|[A-Za-z]:[\\/]|file:", re.IGNORECASE)
_ADDRESS = re.compile(r"://|^[\w.-]+@[\w.-]+:|^[\w.-]+::")
# `date 010112002030` sets the clock.
_MOMENT = re.compile(r"[0-9]{6,}(?:\.[0-9]+)?")
_PRIVATE = re.compile(
    r"\.(?:ssh|gnupg|aws|azure|kube|docker|config|local|netrc|npmrc|pypirc|git-credentials|env(?:rc)?(?:\..*)?|pgpass"
    r"|my\.cnf|password-store|mozilla|thunderbird|skales-data|encryption-key|\w*_history)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|secrets\.json|.*\.(?:pem|p12|pfx|keystore|kdbx)",
    re.IGNORECASE,
)


def prefix_words(words: list[str]) -> list[str]:
    """The words of a command that "always" could cover; none where that would allow too much."""
    program, subcommand = (*words, "")[:2]
    if program in _READERS:
        return words[:1]
    if program in _SCRIPT_RUNNERS and subcommand in _RUNS_SCRIPT:
        return [] if words[1:] == ["run"] else words
    return words[:2] if subcommand in _SUBCOMMANDS.get(program, ()) else []


def may_go_on(approved: list[str], rest: list[str]) -> bool:
    """Whether a command may say more than the approved words: only of known programs is it known what that may be."""
    program, subcommand = (*approved, "")[:2]
    if program in _SCRIPT_RUNNERS and subcommand in _RUNS_SCRIPT:
        return _QUIET.issuperset(rest)
    return not rest or program in _READERS or subcommand in _SUBCOMMANDS.get(program, ())


def is_harmless_call(call: Call) -> bool:
    """Whether arguments only choose what a program shows: no risky option, nothing outside the folder, no secrets."""
    subcommand = f"{call.name} {call.args[0].text}" if call.args else ""
    risky = f"{_RISKY.get(call.name, '')} {_RISKY.get(subcommand, '')}".split()
    means = _means_exactly if call.name == "go" else _means
    return all(
        _is_harmless_word(call.name, word) and not any(means(word.text, option) for option in risky)
        for word in call.args
    )


def _means_exactly(text: str, option: str) -> bool:
    """The same for programs that know neither clusters nor shortened options."""
    return text.partition("=")[0].replace("--", "-", 1) == option


def _means(text: str, option: str) -> bool:
    """Whether a word is the option: spelled out, shortened, with its value attached, or in a cluster of letters."""
    if option.startswith("--"):
        given = text.partition("=")[0]
        return len(given) > 2 and option.startswith(given)
    if option.startswith("-") and len(option) == 2:
        return text.startswith("-") and not text.startswith("--") and option[1] in text[1:]
    return text.partition("=")[0].replace("--", "-", 1) == option


def _is_harmless_word(program: str, word: Word) -> bool:
    if not word.known or word.tilde:
        return False
    text = word.text
    is_option = text.startswith("-")
    value = text.partition("=")[2] if is_option else text
    attached = is_option and "=" not in text and re.search(r"[/~\\]", text) is not None
    # `HEAD:.env`: git shows a file of an earlier moment.
    parts = re.split(r"[/\\:]" if program == "git" else r"[/\\]", value)
    if attached or _FAR.match(value) or ".." in parts or any(map(_PRIVATE.fullmatch, parts)):
        return False
    if program in _SUBCOMMANDS and _ADDRESS.search(text):
        return False
    if program == "date" and _MOMENT.fullmatch(text):
        return False
    # A pattern may match what its letters do not show: hidden files, and options.
    is_open = "{" in text or any(part.startswith(".") for part in parts)
    return not word.globbed or (program in _TAKES_PATTERNS and not is_open)
