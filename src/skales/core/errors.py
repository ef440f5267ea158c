"""The one error tree. Each error says what happened (`message`), what to do next (`hint`), and a stable `code`.

SkalesError
├── InputError            the caller sent something unusable; nothing was changed
│   ├── NotFoundError     the named thing does not exist
│   └── ConflictError     it exists, but its state does not allow this
├── StorageError          the disk said no (full, read-only, no permission)
│   └── BrokenDocumentError   a file could not be read as what it should be; it was set aside
├── ProviderError         a model endpoint did not answer as it should
├── ToolError             a tool did not do what was asked; the model is told
│   └── ToolRefusedError  a rule forbade the call; it was not run
└── ConfigurationError    the program cannot start or go on like this
"""

from enum import StrEnum


class SkalesError(Exception):
    """Base of all errors that are meant to be shown to a person or a model."""

    def __init__(self, message: str, *, hint: str = "", code: str = "error") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        """Message and hint as two sentences."""
        return f"{self.message}. {self.hint}" if self.hint else self.message


class InputError(SkalesError):
    """What the caller sent cannot be used; nothing was changed."""

    def __init__(self, message: str, *, hint: str = "", code: str = "bad_input") -> None:
        super().__init__(message, hint=hint, code=code)


class NotFoundError(InputError):
    """The named thing does not exist."""

    def __init__(self, message: str, *, hint: str = "", code: str = "not_found") -> None:
        super().__init__(message, hint=hint, code=code)


class ConflictError(InputError):
    """The thing exists, but its present state does not allow the request."""

    def __init__(self, message: str, *, hint: str = "", code: str = "conflict") -> None:
        super().__init__(message, hint=hint, code=code)


class StorageError(SkalesError):
    """The disk refused; what was on it before is still there."""

    def __init__(self, message: str, *, hint: str = "", code: str = "storage") -> None:
        super().__init__(message, hint=hint, code=code)


class BrokenDocumentError(StorageError):
    """A file under the data directory could not be read as what it should be and was set aside."""

    def __init__(self, message: str, *, hint: str = "", code: str = "broken_document") -> None:
        super().__init__(message, hint=hint, code=code)


class ProviderFault(StrEnum):
    """What went wrong with a model endpoint; each has one message for people."""

    BAD_KEY = "bad_key"
    NO_CREDIT = "no_credit"
    FORBIDDEN = "forbidden"
    UNKNOWN_MODEL = "unknown_model"
    BAD_REQUEST = "bad_request"
    CONTEXT_OVERFLOW = "context_overflow"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    TLS = "tls"
    BAD_ANSWER = "bad_answer"
    STREAM_CUT = "stream_cut"
    NOT_CONFIGURED = "not_configured"


class ProviderError(SkalesError):
    """A model endpoint did not answer as it should.

    `retryable` says whether the same request may succeed later; `retry_after_s` is the endpoint's own wish,
    already capped.
    """

    def __init__(
        self,
        message: str,
        *,
        fault: ProviderFault,
        hint: str = "",
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=fault.value)
        self.fault = fault
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class ToolError(SkalesError):
    """A tool could not do what was asked; the model gets the text and can react."""

    def __init__(self, message: str, *, hint: str = "", code: str = "tool_failed") -> None:
        super().__init__(message, hint=hint, code=code)


class ToolRefusedError(ToolError):
    """A rule forbids the call; it was not run."""

    def __init__(self, message: str, *, hint: str = "", code: str = "tool_refused") -> None:
        super().__init__(message, hint=hint, code=code)


class ConfigurationError(SkalesError):
    """The program cannot start, or cannot go on, as it is set up."""

    def __init__(self, message: str, *, hint: str = "", code: str = "configuration") -> None:
        super().__init__(message, hint=hint, code=code)
