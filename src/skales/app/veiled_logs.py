"""Log lines without secrets: message, arguments and traceback, of our own loggers and of every library's."""

import logging
import traceback
from collections.abc import Generator
from contextlib import contextmanager

from skales.security.veil import Veil


@contextmanager
def veiled_logs(veil: Veil) -> Generator[None, None, None]:
    """While the block runs, whatever is logged in this process loses its secrets before any output sees it."""
    make = logging.getLogRecordFactory()

    def make_veiled(*arguments: object, **named: object) -> logging.LogRecord:
        record = make(*arguments, **named)
        record.msg, record.args = veil.text(_say(record)), ()
        if record.exc_info and record.exc_info[1] is not None:
            # Formatters show this instead of making their own.
            record.exc_text = veil.text("".join(traceback.format_exception(*record.exc_info)).rstrip("\n"))
        if record.stack_info:
            record.stack_info = veil.text(record.stack_info)
        return record

    logging.setLogRecordFactory(make_veiled)
    try:
        yield
    finally:
        logging.setLogRecordFactory(make)


def _say(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError) as error:  # placeholders that do not fit must not stop what logs
        return f"{record.msg} ({error})"
