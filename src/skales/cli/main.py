"""The `skales` command line: what it understands, and which module does it. Spec: cli.md, "Our own CLI".

Only the standard library is imported here; a command's module is loaded when it runs.
"""

import argparse
import gc
import importlib
import sys
from collections.abc import Sequence
from typing import Protocol

from skales import __version__
from skales.core.errors import SkalesError

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130

# Loading modules makes many objects and hardly any garbage. With Python's own 700 a start is looked through 174 times,
# once of them whole; with this 11 times.
_GARBAGE_THRESHOLD = 10_000


def start() -> int:
    """The command as a process of its own: as `main`, with the garbage collector out of its way."""
    gc.set_threshold(_GARBAGE_THRESHOLD)
    code = main()
    gc.freeze()  # what is left goes with the process, and need not be looked through once more
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    parsed = build_parser().parse_args(arguments)
    if not parsed.command:
        build_parser().print_help()
        return 0
    module = importlib.import_module(f"skales.cli.commands.{parsed.command}")
    try:
        return int(module.run(parsed))
    except SkalesError as error:
        from skales.security.redact import redact  # an error may quote what was typed or what an endpoint said

        print(f"Error: {redact(error.message)}", file=sys.stderr)
        if error.hint:
            print(f"  {redact(error.hint)}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return EXIT_ERROR


def build_parser() -> argparse.ArgumentParser:
    """Every command and option."""
    parser = argparse.ArgumentParser(prog="skales", description="A local-first AI agent for your own machine.")
    parser.add_argument("--version", action="version", version=f"skales {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    _add_serve(commands)
    _add_chat(commands)
    _add_tools(commands)
    _add_addons(commands)
    _add_model(commands)
    _add_models(commands)
    _add_sessions(commands)
    _add_tasks(commands)
    _add_cron(commands)
    _add_config(commands)
    _add_ftp(commands)
    _add_connectors(commands)
    _add_outbox(commands)
    _add_audit(commands)
    stop = commands.add_parser("stop", help="stop one conversation's turn, or with --all everything that runs")
    stop.add_argument("session", nargs="?", default="", metavar="ID")
    stop.add_argument("--all", action="store_true", help="the kill switch: turns, tools, background programs, tasks")
    _add_json(stop)
    _add_vault(commands)
    _add_grants(commands)
    _add_undo(commands)
    _add_secrets(commands)
    costs = commands.add_parser("costs", help="what models cost, estimated from list prices")
    costs.add_argument("--since", default="30d", metavar="TIME", help="7d, 2026-11-30 or all (default: 30d)")
    costs.add_argument("--by", choices=["model", "provider", "purpose", "session", "day"], default="model")
    _add_json(costs)
    status = commands.add_parser("status", help="what runs, with which model, and how much it holds")
    _add_json(status)
    doctor = commands.add_parser("doctor", help="check data, provider, local model and port, and say what to do")
    _add_json(doctor)
    return parser


class _Commands(Protocol):
    """What add_subparsers returns, which argparse gives no public name."""

    def add_parser(self, name: str, *, help: str) -> argparse.ArgumentParser:
        """A parser for one command."""
        ...


def _add_serve(commands: _Commands) -> None:
    serve = commands.add_parser("serve", help="start the app: page and API on this machine")
    serve.add_argument(
        "--port", type=int, help="use this port only (default: SKALES_PORT, else the first free of 3000-3009)"
    )
    serve.add_argument("--no-window", action="store_true", help="do not open the page")


def _add_chat(commands: _Commands) -> None:
    chat = commands.add_parser("chat", help="talk to the agent; with a text, ask once and print the answer")
    chat.add_argument("text", nargs="?", help="the message; `-` reads it from standard input")
    chat.add_argument("--session", metavar="ID", help="go on in this conversation")
    _add_json(chat)


def _add_tools(commands: _Commands) -> None:
    tools = commands.add_parser("tools", help="list the tools, or run one without a model")
    actions = tools.add_subparsers(dest="action", metavar="action")
    _add_json(actions.add_parser("list", help="list all tools (default)"))
    show = actions.add_parser("show", help="show a tool's parameters")
    show.add_argument("name")
    for name, what in (("pin", "always offer one to models"), ("unpin", "offer it only when it is found")):
        actions.add_parser(name, help=what).add_argument("name")
    run = actions.add_parser("run", help="run a tool: skales tools run read_file --path notes.txt")
    run.add_argument("name")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="--parameter value …, before them --json for JSON")
    _add_json(tools)


def _add_secrets(commands: _Commands) -> None:
    secrets = commands.add_parser("secrets", help="find keys and passwords in old conversations, memories and logs")
    actions = secrets.add_subparsers(dest="action", metavar="action")
    scan = actions.add_parser("scan", help="look for them (default)")
    scan.add_argument("--mask", action="store_true", help="replace each by a marker; can be taken back")
    _add_json(scan)
    for name, what in (("undo", "take a masking back"), ("forget", "delete what a masking could be taken back with")):
        actions.add_parser(name, help=what).add_argument("id", nargs="?", default="", help="default: the newest")
    _add_json(secrets)


def _add_addons(commands: _Commands) -> None:
    addons = commands.add_parser("addons", help="list the add-ons, or switch one: skales addons on email")
    actions = addons.add_subparsers(dest="action", metavar="action")
    _add_json(actions.add_parser("list", help="list those with tools (default)"))
    for name in ("on", "off"):
        actions.add_parser(name, help=f"switch one {name}").add_argument("id")
    _add_json(addons)


def _add_model(commands: _Commands) -> None:
    model = commands.add_parser("model", help="show the active model, or switch: skales model openai gpt-5.5")
    model.add_argument("provider", nargs="?")
    model.add_argument("model", nargs="?")
    _add_json(model)


def _add_models(commands: _Commands) -> None:
    models = commands.add_parser("models", help="list the models there are, ask for them, or find out what one can")
    actions = models.add_subparsers(dest="action", metavar="action")
    _add_json(actions.add_parser("list", help="the models of every provider that is set up, offline (default)"))
    refresh = actions.add_parser("refresh", help="ask a provider which models it has")
    refresh.add_argument("id", help="such as openai, ollama, custom")
    _add_json(refresh)
    probe = actions.add_parser("probe", help="find out by trying: tools, JSON, pictures, real context length")
    probe.add_argument("id", nargs="?", default="", help="the provider (default: the active one)")
    probe.add_argument("--model", default="", help="another model than the chosen one")
    probe.add_argument(
        "--context",
        type=int,
        metavar="TOKENS",
        help="try the context up to this many tokens; costs twice as many (default: only for local servers)",
    )
    _add_json(probe)
    _add_json(models)


def _add_sessions(commands: _Commands) -> None:
    sessions = commands.add_parser("sessions", help="list, show, search, arrange, export or delete conversations")
    actions = sessions.add_subparsers(dest="action", metavar="action")
    listing = actions.add_parser("list", help="newest first (default)")
    listing.add_argument("--limit", type=int, default=20)
    _add_json(listing)
    show = actions.add_parser("show", help="print one conversation")
    show.add_argument("id")
    _add_json(show)
    search = actions.add_parser("search", help="find words in all conversations")
    search.add_argument("words")
    search.add_argument("--limit", type=int, default=20)
    _add_json(search)
    export = actions.add_parser("export", help="write one conversation to a file, secrets masked")
    export.add_argument("id")
    export.add_argument("--format", choices=["md", "json", "html", "pdf"], default="md")
    export.add_argument("-o", "--output", metavar="FILE", help="`-` for standard output (default: named by its title)")
    export.add_argument("--no-steps", action="store_true", help="leave tool steps out")
    export.add_argument("--thoughts", action="store_true", help="with the model's thoughts")
    export.add_argument("--no-receipts", action="store_true", help="leave model, tokens and time out")
    for name, what in (("pin", "keep one conversation at the top"), ("unpin", "no longer keep it there")):
        actions.add_parser(name, help=what).add_argument("id")
    folder = actions.add_parser("folder", help="put one conversation into a folder, without a name out of it")
    folder.add_argument("id")
    folder.add_argument("name", nargs="?", default="")
    lift = actions.add_parser("lift", help="no longer ask because of what this conversation has read from others")
    lift.add_argument("id")
    delete = actions.add_parser("delete", help="move one conversation to the trash")
    delete.add_argument("id")
    _add_json(sessions)


def _add_tasks(commands: _Commands) -> None:
    tasks = commands.add_parser("tasks", help="list, show, cancel, retry or delete tasks that were filed for later")
    actions = tasks.add_subparsers(dest="action", metavar="action")
    listing = actions.add_parser("list", help="newest first (default)")
    listing.add_argument("--status", default="", metavar="STATE", help="pending, running, completed, failed, cancelled")
    _add_json(listing)
    show = actions.add_parser("show", help="print one task with its result")
    show.add_argument("id")
    _add_json(show)
    for name, what in (
        ("cancel", "stop one task, or keep it from running"),
        ("retry", "let a task that is over wait again"),
        ("delete", "remove one task from the list"),
    ):
        actions.add_parser(name, help=what).add_argument("id")
    _add_json(tasks)


def _add_cron(commands: _Commands) -> None:
    cron = commands.add_parser("cron", help="list, add, remove, switch or run scheduled tasks")
    actions = cron.add_subparsers(dest="action", metavar="action")
    _add_json(actions.add_parser("list", help="with their next runs (default)"))
    add = actions.add_parser("add", help='make one: skales cron add "Mail" "0 9 * * 1-5" "Summarise my mail"')
    add.add_argument("name")
    add.add_argument("schedule", help="minute hour day-of-month month weekday, in quotes")
    add.add_argument("task", nargs="+", help="what to do each time")
    add.add_argument("--agent", default="", metavar="ID")
    _add_json(add)
    for name, what in (
        ("remove", "delete one"),
        ("enable", "turn one on"),
        ("disable", "turn one off"),
        ("run", "run one now, beside its schedule"),
    ):
        actions.add_parser(name, help=what).add_argument("id")
    _add_json(cron)


def _add_config(commands: _Commands) -> None:
    config = commands.add_parser("config", help="read and change settings; set up a provider")
    actions = config.add_subparsers(dest="action", metavar="action", required=True)
    actions.add_parser("path", help="where the data directory is")
    get = actions.add_parser("get", help="print a setting, or all")
    get.add_argument("name", nargs="?")
    put = actions.add_parser("set", help="change a setting: skales config set safetyMode advanced")
    put.add_argument("name")
    put.add_argument("value")
    provider = actions.add_parser("provider", help="set up a provider and make it the active one")
    provider.add_argument("id", help="such as openai, ollama, custom")
    provider.add_argument("--base-url", metavar="URL")
    provider.add_argument("--model")
    provider.add_argument("--key", help="visible in the shell's history; --key-stdin is not")
    provider.add_argument("--key-stdin", action="store_true", help="read the key from standard input")
    provider.add_argument("--no-activate", action="store_true", help="keep the present provider active")
    provider.add_argument("--test", action="store_true", help="ask the endpoint for its models afterwards")


def _add_ftp(commands: _Commands) -> None:
    ftp = commands.add_parser("ftp", help="servers to publish to (FTP, FTPS, SFTP), and where projects are deployed")
    actions = ftp.add_subparsers(dest="action", metavar="action")
    _add_json(actions.add_parser("list", help="the saved profiles, without passwords (default)"))
    add = actions.add_parser("add", help="save a profile and try it; the password is asked for")
    add.add_argument("name")
    add.add_argument("--host", required=True)
    add.add_argument("--user", required=True)
    add.add_argument("--protocol", choices=["sftp", "ftps", "ftps-implicit", "ftp"], default="sftp")
    add.add_argument("--port", type=int, default=0, help="(default: the protocol's own)")
    add.add_argument("--path", default="", metavar="FOLDER", help="folder on the server that tools stay inside")
    add.add_argument("--key-file", default="", metavar="FILE", help="private key to sign in with, for sftp")
    add.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
    add.add_argument("--no-password", action="store_true", help="ask for none")
    add.add_argument("--no-test", action="store_true", help="do not connect")
    for name, what in (
        ("remove", "forget a profile with its password"),
        ("test", "connect and look into its folder"),
        ("trust", "accept the key or certificate the server shows now"),
    ):
        actions.add_parser(name, help=what).add_argument("name")
    target = actions.add_parser("target", help="save where a project is deployed to")
    target.add_argument("project", help="the project's folder")
    target.add_argument("--profile", default="", metavar="NAME")
    target.add_argument("--path", default="", metavar="FOLDER", help="folder on the server")
    target.add_argument("--folder", default="", metavar="PLACE", help="a folder on this computer instead of a profile")
    target.add_argument("--from", dest="subfolder", default="", metavar="PART", help="only this part, such as dist")
    target.add_argument("--remove", action="store_true", help="forget the target")
    _add_json(actions.add_parser("targets", help="the saved targets"))
    _add_json(ftp)


def _add_connectors(commands: _Commands) -> None:
    connectors = commands.add_parser("connectors", help="list, add or remove REST services that tools may call")
    actions = connectors.add_subparsers(dest="action", metavar="action")
    _add_json(actions.add_parser("list", help="list them, without their secrets (default)"))
    add = actions.add_parser("add", help="set one up: skales connectors add crm https://crm.example.org/api")
    add.add_argument("name")
    add.add_argument("base_url", metavar="URL", help="where all its addresses begin")
    add.add_argument("--auth", choices=["none", "bearer", "basic", "header", "query"], default="none")
    add.add_argument("--auth-name", default="", metavar="NAME", help="user of basic, else name of header or parameter")
    add.add_argument("--method", action="append", default=[], help="allow this method; may be repeated (default: GET)")
    add.add_argument("--header", action="append", default=[], metavar="'NAME: VALUE'", help="goes with every request")
    secret = actions.add_parser("secret", help="put in another key or password")
    secret.add_argument("name")
    for action in (add, secret):
        action.add_argument("--secret-stdin", action="store_true", help="read the secret from standard input")
    actions.add_parser("remove", help="forget one").add_argument("name")
    _add_json(connectors)


def _add_outbox(commands: _Commands) -> None:
    outbox = commands.add_parser("outbox", help="what was sent, and what nobody is sure of: say what became of it")
    actions = outbox.add_subparsers(dest="action", metavar="action")
    _add_json(actions.add_parser("list", help="those that wait for your word first (default)"))
    for name, what in (
        ("sent", "it arrived"),
        ("again", "it did not: send it again"),
        ("drop", "do not send it any more"),
    ):
        answer = actions.add_parser(name, help=what)
        answer.add_argument("id")
        _add_json(answer)
    _add_json(outbox)


def _add_audit(commands: _Commands) -> None:
    audit = commands.add_parser("audit", help="what was decided and run; find out whether the log was changed")
    actions = audit.add_subparsers(dest="action", metavar="action")
    listing = actions.add_parser("list", help="newest first (default)")
    listing.add_argument("--limit", type=int, default=50)
    verify = actions.add_parser(
        "verify", help="find every edit, removal, cut and reordering; exit code 1 when there is one"
    )
    export = actions.add_parser("export", help="write the log as JSON lines or CSV")
    export.add_argument("--format", choices=["jsonl", "csv"], default="jsonl")
    export.add_argument("-o", "--output", default="", metavar="FILE", help="`-` for standard output (default)")
    for parser, usual in ((listing, "7d"), (export, "all")):
        parser.add_argument("--since", default=usual, metavar="TIME", help=f"7d, 2026-11-30 or all (default: {usual})")
        parser.add_argument("--tool", default="", metavar="NAME")
        parser.add_argument("--decision", default="", metavar="WORD", help="auto, approved, declined, blocked, …")
        parser.add_argument("--session", default="", metavar="ID")
    _add_json(listing)
    _add_json(verify)
    _add_json(audit)


def _add_vault(commands: _Commands) -> None:
    vault = commands.add_parser("vault", help="how keys and passwords are kept; secrets that tools use by name")
    actions = vault.add_subparsers(dest="action", metavar="action")
    _add_json(actions.add_parser("status", help="where the master key is, and what is sealed (default)"))
    _add_json(actions.add_parser("list", help="the named secrets, without their values"))
    put = actions.add_parser("set", help="keep a secret under a name; it is asked for")
    put.add_argument("name")
    put.add_argument("--host", action="append", default=[], help="it may go to this host only; may be repeated")
    put.add_argument("--tool", action="append", default=[], help="only this tool may use it; may be repeated")
    put.add_argument("--secret-stdin", action="store_true", help="read the secret from standard input")
    actions.add_parser("delete", help="forget a named secret").add_argument("name")
    rotate = actions.add_parser("rotate", help="make a new master key and seal everything with it")
    rotate.add_argument("--to", choices=["keychain", "file"], default="keychain", help="where to keep it")
    _add_json(vault)


def _add_grants(commands: _Commands) -> None:
    grants = commands.add_parser("grants", help="what tools may do without asking again: list, revoke, restore")
    actions = grants.add_subparsers(dest="action", metavar="action")
    _add_json(actions.add_parser("list", help="in words, with where it was given and how often used (default)"))
    actions.add_parser("revoke", help="take one back; the next such call asks again").add_argument("id")
    actions.add_parser("restore", help="undo revoking one").add_argument("id")
    _add_json(grants)
    why = commands.add_parser("why", help="why a call asks or is refused, or would; nothing is run")
    why.add_argument("what", metavar="TOOL | APPROVAL", help="a tool's name, or the id of a question (ap_…)")
    why.add_argument("--arg", action="append", default=[], metavar="NAME=VALUE", help="an argument; may be repeated")
    _add_json(why)


def _add_undo(commands: _Commands) -> None:
    undo = commands.add_parser("undo", help="take back what a tool changed: the last step, one by its id, or a turn")
    undo.add_argument("id", nargs="?", default="", help="the step (default: the last one)")
    undo.add_argument("--list", action="store_true", help="show the timeline and change nothing")
    undo.add_argument("--turn", action="store_true", help="all that was changed in the same turn")
    undo.add_argument("--redo", action="store_true", help="bring back what was undone")
    undo.add_argument("--partial", action="store_true", help="do what can be done when something was changed since")
    undo.add_argument("--yes", action="store_true", help="do not ask")
    _add_json(undo)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")


if __name__ == "__main__":
    sys.exit(start())
