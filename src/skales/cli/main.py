"""The `skales` command line: what it understands, and which module does it. Spec: cli.md, "Our own CLI".

Only the standard library is imported here; a command's module is loaded when it runs.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Protocol

from skales import __version__
from skales.core.errors import SkalesError

EXIT_ERROR = 1
EXIT_INTERRUPTED = 130


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
        print(f"Error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  {error.hint}", file=sys.stderr)
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
    _add_config(commands)
    _add_undo(commands)
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
    delete = actions.add_parser("delete", help="move one conversation to the trash")
    delete.add_argument("id")
    _add_json(sessions)


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
    sys.exit(main())
