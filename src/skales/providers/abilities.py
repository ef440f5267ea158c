"""What a model's name tells of its abilities, for models that no list describes. A guess: any other word counts more.

Spec: providers.md, "Rules" (vision detection by name).
"""

import re

_SEEING = re.compile(
    r"gemma-?[34](?!.*\b(?:270m|1b)\b)|medgemma|paligemma"
    r"|llava|pixtral|minicpm-?[ov]|moondream|internvl|cogvlm|smolvlm|molmo|idefics|bakllava"
    r"|qwen[\d.]*-?(?:vl|omni)|qvq|kimi-(?:vl|k2\.[5-9]|k[3-9])|glm-[\d.]+v\b|deepseek-?vl|hunyuan-vision|step-\d+v"
    r"|(?:^|[/\-])gpt-(?:4o|4\.1|4-turbo|4-vision|[5-9])|chatgpt-4o|(?:^|/)o(?:1|3|4)(?!-mini|\d)|(?:^|/)o4-mini"
    r"|claude-(?!2|instant)|gemini|llama-?4|grok-(?:[4-9]|\d+-vision)|nova-(?:lite|pro|premier)"
    r"|mistral-(?:small-?3\.[1-9]|medium-?3|large-?3)|ministral-?3|phi-?\d[\d.]*-(?:vision|multimodal)"
    r"|vision|multimodal|(?:^|[\-_/])vl(?:m)?(?:$|[\-_:.])"
)
# Relatives of seeing models that take or make something else.
_OTHER_WORK = re.compile(
    r"embed|rerank|whisper|transcribe|(?:^|-)tts|-audio|realtime|moderation|-image(?:$|-)|imagen|dall-e|guard"
)
_REASONING = re.compile(
    r"deepseek-r\d|reasoner|reasoning|thinking|qwq|qvq|magistral|gpt-oss|(?:^|[/\-])gpt-[5-9]|(?:^|/)o[134](?:$|[\-:])"
    r"|claude-(?:opus|sonnet|fable)-[4-9]|claude-3[.-]7|gemini-(?:2\.5|[3-9])|qwen3(?!.*instruct)|grok-(?:[4-9]|3-mini)"
    r"|glm-(?:4\.[5-9]|[5-9])|kimi-k(?:2\.[5-9]|[3-9])"
)


def sees_by_name(model: str) -> bool:
    """Whether a model of this name usually takes pictures."""
    name = model.lower()
    return bool(_SEEING.search(name)) and not _OTHER_WORK.search(name)


def reasons_by_name(model: str) -> bool:
    """Whether a model of this name usually thinks before it answers."""
    name = model.lower()
    return bool(_REASONING.search(name)) and not _OTHER_WORK.search(name)


def chats_by_name(model: str) -> bool:
    """Whether a model of this name is made for conversations; embeddings and speech are listed beside them."""
    return not _OTHER_WORK.search(model.lower()) and "mmproj" not in model.lower()
