"""The tool `get_system_info`: what a model needs to know of this computer to give fitting answers. Names nobody."""

import os
import platform
import shutil
from pathlib import Path

from anyio import to_thread

from skales.core.clock import Clock, to_datetime
from skales.core.tool import Safety, ToolResult
from skales.tools.context import ToolContext
from skales.tools.define import tool
from skales.tools.describe import render_size


@tool(
    "system",
    Safety.AUTO,
    addon="system_monitor",
    action="Look up facts about this computer",
    example=("How much memory does this computer have?", {}),
    found_by=(
        "Computer Rechner RAM CPU Arbeitsspeicher processor memory operating system version Betriebssystem "
        "Auslastung slow langsam battery date today Datum heute Uhrzeit time spät Prozessor machine Windows "
        "Linux macOS kernel hardware Python day weekday Wochentag Kalenderwoche"
    ),
)
async def get_system_info(ctx: ToolContext) -> ToolResult:
    """Look up facts about this computer: system, processor, memory, disk space, Python, date, time and workspace."""
    text = await to_thread.run_sync(_describe, ctx.paths.workspace, ctx.clock)
    return ToolResult(text=text, summary=f"{_system_name()}, {platform.machine()}")


def _describe(workspace: Path, clock: Clock) -> str:
    import psutil

    memory = psutil.virtual_memory()
    swap = psutil.swap_memory()
    facts = {
        "System": _system_name(),
        "Kernel": f"{platform.system()} {platform.release()}",
        "Processor": _processor(),
        "Memory": f"{render_size(memory.total)}, {render_size(memory.available)} available",
        "Swap": f"{render_size(swap.total)}, {render_size(swap.free)} free" if swap.total else "none",
        "Disk of the workspace": _disk(workspace),
        "Running since": to_datetime(int(psutil.boot_time() * 1000)).strftime("%Y-%m-%d %H:%M"),
        "Date and time": to_datetime(clock.now_ms()).strftime("%A %Y-%m-%d %H:%M:%S, %Z (UTC%z)"),
        "Python": platform.python_version(),
        "Workspace": _short(workspace),
    }
    return "\n".join(f"{name}: {fact}" for name, fact in facts.items())


def _system_name() -> str:
    """`Debian GNU/Linux 12 (bookworm)`, `macOS 15.1`, `Windows 11`."""
    match platform.system():
        case "Linux":
            try:
                return platform.freedesktop_os_release()["PRETTY_NAME"]
            except (OSError, KeyError):
                return "Linux"
        case "Darwin":
            return f"macOS {platform.mac_ver()[0]}"
        case system:
            return f"{system} {platform.release()}".strip()


def _processor() -> str:
    import psutil

    cores, threads = psutil.cpu_count(logical=False), psutil.cpu_count()
    load = psutil.getloadavg()[0]
    return f"{_processor_name()}, {cores or threads} cores, {threads} threads, load {load:.1f}"


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.lower().startswith(("model name", "hardware")))
    return next(names, "") or platform.processor() or platform.machine()


def _disk(workspace: Path) -> str:
    try:
        disk = shutil.disk_usage(workspace)
    except OSError:
        return "not known"
    return f"{render_size(disk.total)}, {render_size(disk.free)} free"


def _short(path: Path) -> str:
    """The path with `~` for the home folder, which would name the person."""
    try:
        return f"~{os.sep}{path.relative_to(Path.home())}"
    except ValueError:
        return str(path)
