"""A tool that mails over plain SMTP and says how far it is, as tools for mail are to do. Only tests know it."""

import smtplib
from collections.abc import Callable
from typing import TypeVar

import anyio.to_thread

from skales.core.errors import ToolError
from skales.core.tool import Effect, Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import tool

Result = TypeVar("Result")


@tool("web", Safety.AUTO, Effect.OUTBOUND, once=True, action="Mail {to}: {text}")
async def send_test_mail(ctx: ToolContext, to: str, text: str, port: int) -> ToolResult:
    """Mail a text to somebody.

    Args:
        to: Whom.
        text: What.
        port: Where the server listens.
    """
    delivery = ctx.scope.delivery
    smtp = smtplib.SMTP(timeout=10)

    async def step(do: Callable[[], Result]) -> Result:
        return await anyio.to_thread.run_sync(do)

    try:
        await step(lambda: smtp.connect("127.0.0.1", port))
        await step(smtp.ehlo)
        await step(lambda: smtp.mail("skales@example.org"))
        await step(lambda: smtp.rcpt(to))
        await delivery.begin()
        message = f"Message-ID: <{delivery.key}@example.org>\r\n\r\n{text}\r\n"
        code, words = await step(lambda: smtp.data(message))
        if code != 250:
            await delivery.refuse()
            raise ToolError(f"The server did not take it: {words.decode()}")
        await delivery.accept()
    except (OSError, smtplib.SMTPException) as error:
        raise ToolError("The mail server cannot be reached") from error
    finally:
        smtp.close()
    return ToolResult(text=f"Mailed {to}.")
