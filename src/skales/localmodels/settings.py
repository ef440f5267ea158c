"""`model-settings.json`: how each model runs. A value that makes no sense counts as not set. Spec: local-models.md."""

from pathlib import Path

from msgspec import Struct

from skales.core.errors import BrokenDocumentError, NotFoundError
from skales.core.json import JsonObject, as_object, as_text
from skales.data.document import read_object
from skales.data.quarantine import Quarantine
from skales.localmodels.catalog import Starter


class ModelSettings(Struct, frozen=True, kw_only=True):
    """How one model runs. `context_tokens` and `threads` 0 mean what fits; `gpu_layers` -1 means as many as fit."""

    context_tokens: int = 0
    temperature: float = 0.7
    top_p: float = 0.95
    repeat_penalty: float = 1.0  # more keeps tool calls from copying what the user said
    threads: int = 0
    gpu_layers: int = -1
    chat_template: str = ""


def load_settings(path: Path, quarantine: Quarantine, model_id: str, starter: Starter) -> ModelSettings:
    """The user's settings of a model over its defaults. Raises StorageError when the file cannot be read at all."""
    try:
        own = as_object(read_object(path, quarantine).get(model_id))
    except (NotFoundError, BrokenDocumentError):
        own = {}
    default = ModelSettings()
    if model_id == starter.id:
        default = ModelSettings(temperature=starter.temperature, repeat_penalty=starter.repeat_penalty)
    return ModelSettings(
        context_tokens=int(_number(own, "ctx", 256, 1 << 20, default.context_tokens)),
        temperature=_number(own, "temperature", 0, 2, default.temperature),
        top_p=_number(own, "topP", 0, 1, default.top_p),
        repeat_penalty=_number(own, "repeatPenalty", 0.5, 2, default.repeat_penalty),
        threads=int(_number(own, "threads", 1, 512, default.threads)),
        gpu_layers=int(_number(own, "gpuLayers", -1, 1000, default.gpu_layers)),
        chat_template=as_text(own.get("chatTemplate")),
    )


def _number(own: JsonObject, name: str, low: float, high: float, default: float) -> float:
    value = own.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return default
    return value if low <= value <= high else default
