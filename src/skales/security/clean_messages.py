"""Remembers which messages hold no secret, so that a long history is looked through once and not at each request."""

import threading
from collections.abc import Iterable, Sequence
from weakref import WeakValueDictionary

from skales.core.message import Message
from skales.security.veil import Veil
from skales.security.veiled_messages import veil_message


class CleanMessages:
    """Known as long as somebody else keeps them and no secret becomes known. Thread-safe."""

    def __init__(self, veil: Veil) -> None:
        self._veil = veil
        self._epoch = veil.epoch()
        self._known: WeakValueDictionary[int, Message] = WeakValueDictionary()
        self._lock = threading.Lock()

    def unknown(self, messages: Iterable[Message]) -> Sequence[Message]:
        """Those that must be looked through."""
        with self._lock:
            if self._epoch != (epoch := self._veil.epoch()):
                self._epoch = epoch
                self._known.clear()
            return [message for message in messages if self._known.get(id(message)) is not message]

    def veil(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """All of them with a marker for every secret."""
        strange = {id(message): self._look(message) for message in self.unknown(messages)}
        return tuple(strange.get(id(message), message) for message in messages)

    def _look(self, message: Message) -> Message:
        veiled = veil_message(self._veil, message)
        if veiled is message:
            with self._lock:
                self._known[id(message)] = message
        return veiled
