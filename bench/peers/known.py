"""The peers: what is installed, how each is set up against our model, started and asked.

In words, files, bodies and the environment `$MODEL` is the model's address, `$PORT` the port to serve on, `$HOME` the
peer's own home, `$BENCH` the folder above, `$TEXT` what is asked, `$SESSION` a conversation's name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

Words = Sequence[str]


class Source(StrEnum):
    """Who installs a peer."""

    PIP = "pip"
    NPM = "npm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How a peer serves. `body` is JSON, or a form's fields; one that names `$SESSION` can go on with a chat.

    `sign_in` is a path that gives a token for an empty name and password.
    """

    words: Words
    ready: str
    path: str
    body: Mapping[str, object]
    is_form: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    sign_in: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One peer. Words begin with the name of a program of its installation; empty ones mean that it has no such thing.

    Packages are installed from the last to the first: what one runs on stands behind it.
    `files` are written to its home for each start, text as it is and all else as JSON.
    A peer that is `large` is measured only when it is named.
    """

    name: str
    source: Source
    packages: Sequence[str]
    help: Words = ()
    chat: Words = ()
    server: Server | None = None
    files: Mapping[str, object] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    large: bool = False

    @property
    def title(self) -> str:
        """For tables: the name and the version of its first package."""
        return f"{self.name} {self.packages[0].replace('==', '@').rpartition('@')[2]}"


_MESSAGES = [{"role": "user", "content": "$TEXT"}]
_KEY = "bench-key-of-sixteen-letters-and-more"

PEERS: Sequence[Peer] = (
    Peer(
        name="nanobot",
        source=Source.PIP,
        packages=("nanobot-ai==0.3.5", "aiohttp==3.14.5"),
        help=("nanobot", "--help"),
        chat=("nanobot", "agent", "--no-markdown", "--session", "$SESSION", "--message", "$TEXT"),
        server=Server(
            words=("nanobot", "serve", "--port", "$PORT"),
            ready="/health",
            path="/v1/chat/completions",
            body={"model": "bench", "stream": True, "session_id": "$SESSION", "messages": _MESSAGES},
        ),
        files={
            ".nanobot/config.json": {
                "agents": {"defaults": {"model": "bench", "provider": "custom"}},
                "providers": {"custom": {"apiKey": "x", "apiBase": "$MODEL"}},
            }
        },
    ),
    Peer(
        name="hermes",
        source=Source.PIP,
        packages=("hermes-agent==0.19.0", "aiohttp==3.14.5"),
        help=("hermes", "--help"),
        chat=("hermes", "chat", "-Q", "--yolo", "-q", "$TEXT"),
        server=Server(
            words=("hermes", "gateway", "run"),
            ready="/health",
            path="/v1/chat/completions",
            body={"model": "hermes-agent", "stream": True, "messages": _MESSAGES},
            headers={"authorization": f"Bearer {_KEY}"},
        ),
        files={
            ".hermes/config.yaml": {  # JSON is YAML
                "model": {"default": "bench", "provider": "custom", "base_url": "$MODEL", "api_key": "x"},
                "gateway": {"api_server": {"max_concurrent_runs": 0}},
            }
        },
        environment={"API_SERVER_ENABLED": "true", "API_SERVER_KEY": _KEY, "API_SERVER_PORT": "$PORT"},
    ),
    Peer(
        name="agno",
        source=Source.PIP,
        packages=(
            "agno==3.1.10",
            "openai==3.57.0",
            "fastapi==0.165.0",
            "uvicorn==0.54.0",
            "sqlalchemy[asyncio]==2.1.9",
            "python-multipart==0.0.34",
        ),
        chat=("python", "$BENCH/peers/agno_app.py", "$MODEL", "chat", "$TEXT"),
        server=Server(
            words=("python", "$BENCH/peers/agno_app.py", "$MODEL", "serve", "$PORT", "$HOME/agno.db"),
            ready="/health",
            path="/agents/bench/runs",
            body={"message": "$TEXT", "stream": "true", "session_id": "$SESSION"},
            is_form=True,
        ),
        environment={"AGNO_TELEMETRY": "false"},
    ),
    Peer(
        name="llm",
        source=Source.PIP,
        packages=("llm==0.36",),
        help=("llm", "--help"),
        chat=("llm", "--model", "bench", "$TEXT"),
        files={
            "llm/extra-openai-models.yaml": [{"model_id": "bench", "model_name": "bench", "api_base": "$MODEL"}],
            "llm/keys.json": {"openai": "x"},
        },
        environment={"LLM_USER_PATH": "$HOME/llm"},
    ),
    Peer(
        name="openclaw",
        source=Source.NPM,
        packages=("openclaw@2026.9.6", "node@24.16.0"),
        help=("openclaw", "--help"),
        chat=("openclaw", "agent", "--local", "--agent", "main", "--session-id", "$SESSION", "--message", "$TEXT"),
        server=Server(
            words=("openclaw", "gateway"),
            ready="/healthz",
            path="/v1/chat/completions",
            body={"model": "openclaw", "stream": True, "user": "$SESSION", "messages": _MESSAGES},
            headers={"authorization": f"Bearer {_KEY}"},
        ),
        files={
            ".openclaw/openclaw.json": {
                "gateway": {
                    "mode": "local",
                    "bind": "loopback",
                    "port": "$PORT",
                    "auth": {"mode": "token", "token": _KEY},
                    "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
                },
                "agents": {"defaults": {"model": {"primary": "bench/bench"}, "workspace": "$HOME/work"}},
                "models": {
                    "mode": "merge",
                    "providers": {
                        "bench": {
                            "baseUrl": "$MODEL",
                            "apiKey": "x",
                            "api": "openai-completions",
                            "models": [
                                {
                                    "id": "bench",
                                    "name": "bench",
                                    "reasoning": False,
                                    "input": ["text"],
                                    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                                    "contextWindow": 131072,
                                    "maxTokens": 8192,
                                }
                            ],
                        }
                    },
                },
            }
        },
        large=True,
    ),
    Peer(
        name="codex",
        source=Source.NPM,
        packages=("@openai/codex@0.169.0",),
        help=("codex", "--help"),
        chat=("codex", "exec", "--skip-git-repo-check", "$TEXT"),
        files={
            ".codex/config.toml": (
                'model = "bench"\nmodel_provider = "bench"\napproval_policy = "never"\nsandbox_mode = "read-only"\n'
                '[model_providers.bench]\nname = "bench"\nbase_url = "$MODEL"\nwire_api = "responses"\n'
            )
        },
    ),
    Peer(
        name="open-webui",
        source=Source.PIP,
        packages=("open-webui==0.12.4",),
        help=("open-webui", "--help"),
        server=Server(
            words=("open-webui", "serve", "--host", "127.0.0.1", "--port", "$PORT"),
            ready="/health",
            path="/api/chat/completions",
            sign_in="/api/v1/auths/signin",
            body={"model": "bench", "stream": True, "messages": _MESSAGES},
        ),
        environment={
            "DATA_DIR": "$HOME/data",
            "WEBUI_AUTH": "False",
            "WEBUI_SECRET_KEY": _KEY,
            "OPENAI_API_BASE_URL": "$MODEL",
            "OPENAI_API_KEY": "x",
            "ENABLE_OLLAMA_API": "False",
            "OFFLINE_MODE": "True",
            "ENABLE_TITLE_GENERATION": "False",
            "ENABLE_TAGS_GENERATION": "False",
            "ENABLE_FOLLOW_UP_GENERATION": "False",
        },
        large=True,
    ),
)
