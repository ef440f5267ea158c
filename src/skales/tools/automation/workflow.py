"""The tool `run_workflow`: a saved workflow, compiled to one order and done in a conversation of its own.

Spec: agents-workflows-autopilot.md, "Workflows" (an objective with steps and what must be true at the end).
"""

import json
import re
from collections.abc import Mapping, Sequence

from anyio import to_thread

from skales.core.errors import ToolError
from skales.core.events import Progress
from skales.core.json import JsonValue, parse_json
from skales.core.tool import Effect, Safety, ToolResult
from skales.data.workflows import Step, Workflow
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.starting import Part

_PLACE = re.compile(r"\{\{\s*([\w-]+)\s*\}\}")


@tool(
    "automation",
    Safety.CONFIRM,
    Effect.SPENDS,
    Effect.READS_PRIVATE,
    Effect.UNTRUSTED_OUTPUT,
    addon="workflow",
    action="Run the workflow {trigger}[ with {parameters_json}]",
    example=("Run /goal-weekly-report for May", {"trigger": "weekly-report", "parameters_json": '{"month": "May"}'}),
    found_by="Ablauf starten workflow goal saved steps Routine ausführen trigger kick start anwerfen run",
)
async def run_workflow(ctx: ToolContext, trigger: str, parameters_json: str = "") -> ToolResult:
    """Start a saved workflow by its trigger, when the person names it or writes /goal-<trigger>.

    Args:
        trigger: The part after /goal-.
        parameters_json: Its parameters as a JSON object, when it has some.
    """
    workflow = await to_thread.run_sync(ctx.workflows.find, trigger)
    order = compile_workflow(workflow, _read_values(parameters_json))

    def report(title: str, done: int) -> None:
        ctx.scope.report(Progress(title, done, 1, "steps"))

    (end,) = await ctx.work.run_parts(ctx.scope.session_id, "", [Part(workflow.name, order)], report)
    refused = "".join(f"\nNot allowed: {action}" for action in end.refused)
    if not end.ok:
        raise ToolError(f"The workflow {workflow.name!r} failed: {end.error}{refused}", code="workflow_failed")
    return ToolResult(
        text=f"{end.answer}{refused}",
        summary=f"The workflow {workflow.name} is done",
        data={"trigger": workflow.trigger, "sessionId": end.session_id},
        sources=end.sources,
    )


def compile_workflow(workflow: Workflow, values: Mapping[str, str]) -> str:
    """The order for the agent. Raises ToolError for a parameter that is missing or unknown."""
    filled = _fill(workflow, values)

    def put(text: str) -> str:
        return _PLACE.sub(lambda found: filled.get(found[1], found[0]), text)

    lines = [put(workflow.objective or workflow.name)]
    if workflow.steps:
        lines += ["", "Steps, in this order; stop and say so when one cannot be done:"]
        lines += [f"{number}. {put(_write_step(step))}" for number, step in enumerate(workflow.steps, 1)]
    if workflow.acceptance:
        lines += ["", "Done when:", *(f"- {put(text)}" for text in workflow.acceptance)]
    return "\n".join(lines)


def _write_step(step: Step) -> str:
    return f"{step.text} (tools that help: {', '.join(step.tools)})" if step.tools else step.text


def _fill(workflow: Workflow, values: Mapping[str, str]) -> Mapping[str, str]:
    known = {parameter.name: parameter for parameter in workflow.parameters}
    if unknown := sorted(set(values) - set(known)):
        raise ToolError(f"The workflow has no parameter {unknown[0]!r}", hint=_names(list(known)), code="bad_input")
    missing = [name for name, found in known.items() if found.required and not (values.get(name) or found.default)]
    if missing:
        raise ToolError(f"The workflow needs a value for {missing[0]!r}", hint=_names(list(known)), code="bad_input")
    return {name: values.get(name) or found.default for name, found in known.items()}


def _names(names: Sequence[str]) -> str:
    return f"Its parameters: {', '.join(names)}" if names else "It has no parameters"


def _read_values(text: str) -> Mapping[str, str]:
    if not text.strip():
        return {}
    try:
        value = parse_json(text)
    except ValueError as error:
        raise ToolError("parameters_json is not JSON", hint='Write an object such as {"month": "May"}') from error
    if not isinstance(value, Mapping):
        raise ToolError("parameters_json is not an object", hint='Write an object such as {"month": "May"}')
    return {name: _show(item) for name, item in value.items()}


def _show(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
