"""Commands no model may start unasked. The list is security.md, "Dangerous-command guard".

Rules look at a program and its arguments only, so a dangerous word in a search pattern or a commit message is nothing
to them. What two commands do together is in `shell_flow`.
"""

from skales.security.shell_call import Call
from skales.security.shell_rule import Danger
from skales.security.shell_rules_files import FILE_RULES
from skales.security.shell_rules_system import SYSTEM_RULES

_RULES = (*FILE_RULES, *SYSTEM_RULES)


def find_danger(call: Call) -> Danger | None:
    """The first rule a call breaks."""
    return next((rule.danger for rule in _RULES if call.name in rule.programs and rule.breaks(call)), None)
