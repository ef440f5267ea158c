"""Shows untrusted text to a model as a quotation that cannot end itself.

The marks around it carry where it is from. Inside, everything that looks like such a mark, or like a mark that chat
templates give a meaning, loses its brackets. Words are not filtered: an instruction in a page stays readable, and the
taint of the session is what keeps it harmless. Spec: ARCHITECTURE.md, "Untrusted text is tracked".
"""

import re

_NAME = "untrusted_content"
_OPENING_LIKE = "<＜﹤‹〈⟨"
_CLOSING_LIKE = ">＞﹥›〉⟩"
# Names that models, or the templates of local ones, take for the frame of a conversation or of a tool's result.
_FRAME_NAMES = (
    r"untrusted[\s_-]*content|system|assistant|think(?:ing)?|(?:start|end)[\s_-]*of[\s_-]*turn|bos|eos|"
    r"(?:function|tool)s?(?:[\s_-]*(?:calls?|results?|responses?|outputs?|use))?|antml:\w+|(?<=/)s"
)
_FRAME_TAG = re.compile(
    rf"[{_OPENING_LIKE}](\s{{0,9}}/?\s{{0,9}}(?:{_FRAME_NAMES})(?![\w-])[^{_OPENING_LIKE}{_CLOSING_LIKE}\n]{{0,200}})[{_CLOSING_LIKE}]",
    re.IGNORECASE,
)
# Control tokens of chat templates: <|im_end|>, <｜tool▁calls▁end｜>, [INST], <<SYS>>.
_CONTROL_TOKEN = re.compile(r"[<＜]([|｜][^<>\n]{1,60}?[|｜])[>＞]")
_BRACKET_TOKEN = re.compile(r"\[(/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS))\]")
_DOUBLE_ANGLE = re.compile(r"<<(/?SYS)>>")


def quote_untrusted(text: str, address: str) -> str:
    """The text between marks that name its address, with every mark inside it made harmless."""
    source = re.sub(r"[\"<>\s]", "", address)
    return f'<{_NAME} from="{source}">\n{neutralise(text)}\n</{_NAME}>'


def neutralise(text: str) -> str:
    """The text with `‹ ›` for the brackets of marks that a model could take for the end of the quotation."""
    text = _CONTROL_TOKEN.sub(r"‹\1›", text)
    text = _DOUBLE_ANGLE.sub(r"‹‹\1››", text)
    text = _BRACKET_TOKEN.sub(r"‹\1›", text)
    return _FRAME_TAG.sub(r"‹\1›", text)
