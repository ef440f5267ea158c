"""Agno is a library: this is the smallest agent of it with a tool and a history. It runs in the peer's environment.

python agno_app.py MODEL_URL chat TEXT
python agno_app.py MODEL_URL serve PORT DATABASE
"""

import sys
from pathlib import Path

from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.models.openai.like import OpenAILike
from agno.os import AgentOS


def read_file(path: str, start: int = 1) -> str:
    """Read a text file from a line on.

    Args:
        path: The file.
        start: The first line wanted.
    """
    return "\n".join(Path(path).read_text(encoding="utf-8").splitlines()[start - 1 :])


def build_agent(model_url: str, database: str = "") -> Agent:
    """One agent, with its history in SQLite where a file is named."""
    model = OpenAILike(id="bench", base_url=model_url, api_key="x")
    db = SqliteDb(db_file=database) if database else None
    return Agent(id="bench", model=model, tools=[read_file], db=db, telemetry=False)


def main(model_url: str, what: str, *rest: str) -> None:
    """Answer once, or serve."""
    if what == "chat":
        for event in build_agent(model_url).run(rest[0], stream=True):
            print(getattr(event, "content", None) or "", end="")
        return
    import uvicorn  # not for one answer

    port, database = rest
    app = AgentOS(agents=[build_agent(model_url, database)], telemetry=False).get_app()
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning", access_log=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
