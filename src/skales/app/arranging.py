"""Where a conversation stands in the list: pinned or not, in which folder; one set of rules for page and terminal."""

from skales.core.ids import SessionId
from skales.data.session_codec import Session
from skales.data.sessions import SessionChanges, SessionStore

LONGEST_FOLDER = 60


def arrange_session(sessions: SessionStore, session_id: str, pinned: bool | None, folder: str | None) -> Session:
    """Change what is given; an empty folder takes the conversation out of its own. Raises NotFoundError."""
    changes: SessionChanges = {}
    if pinned is not None:
        changes["pinned"] = pinned
    if folder is not None:
        changes["folder"] = name_folder(folder)
    return sessions.update(SessionId(session_id), **changes)


def name_folder(text: str) -> str:
    """A folder's name as it is kept: one line, not longer than a list can show."""
    return " ".join(text.split())[:LONGEST_FOLDER].strip()
