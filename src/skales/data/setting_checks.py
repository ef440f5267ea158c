"""How the values of settings.json are checked, said in words that name what a value may be."""

from collections.abc import Callable
from typing import cast

from pydantic import AfterValidator, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from skales.core.errors import InputError
from skales.data.vault_text import is_sealed


def from_to(low: int, high: int) -> WrapValidator:
    """A whole number between these, both included."""

    def check(value: object, read: ValidatorFunctionWrapHandler) -> int:
        try:
            number = low - 1 if isinstance(value, bool) else cast(int, read(value))
        except ValidationError:
            number = low - 1
        if not low <= number <= high:
            raise PydanticCustomError(
                "refused", "must be a whole number from {low} to {high}", {"low": low, "high": high}
            )
        return number

    return WrapValidator(check)


def amount(high: int) -> WrapValidator:
    """A number from 0 to this."""

    def check(value: object, read: ValidatorFunctionWrapHandler) -> float:
        try:
            number = -1.0 if isinstance(value, bool) else cast(float, read(value))
        except ValidationError:
            number = -1.0
        if not 0 <= number <= high:  # not a number is none of these either
            raise PydanticCustomError("refused", "must be a number from 0 to {high}", {"high": high})
        return number

    return WrapValidator(check)


def parsed_by(parse: Callable[[str], str]) -> AfterValidator:
    """A text that `parse` understands; its InputError is the reason for refusing."""

    def check(value: str) -> str:
        try:
            return parse(value)
        except InputError as error:
            reason = {"reason": f"{error.message[0].lower()}{error.message[1:]}", "hint": error.hint}
            raise PydanticCustomError("refused", "cannot be used: {reason}", reason) from error

    return AfterValidator(check)


def require_open(value: str) -> str:
    """A text that is not sealed."""
    if is_sealed(value):
        raise PydanticCustomError("refused", "is sealed by a key store that is not open here")
    return value
