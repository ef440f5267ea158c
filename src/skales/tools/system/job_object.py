"""A Windows job object: what belongs to it ends with it, and uses no more than it may. No other protection.

Talks to kernel32 through ctypes and is loaded on Windows only. Files and the network are not closed by it.
"""

import ctypes
from ctypes import wintypes
from typing import Any

from skales.core.errors import ToolError

_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_LIMIT_ACTIVE_PROCESSES = 0x0008
_LIMIT_JOB_MEMORY = 0x0200
_DIE_ON_UNHANDLED_EXCEPTION = 0x0400
_KILL_ON_JOB_CLOSE = 0x2000
_SET_QUOTA_AND_TERMINATE = 0x0101


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
        ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_ulonglong * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


def build_limits(memory_bytes: int, processes: int) -> ctypes.Structure:
    """The limits as the system reads them: all together may use so much, and be so many."""
    limits = _ExtendedLimits()
    limits.BasicLimitInformation.LimitFlags = (
        _LIMIT_ACTIVE_PROCESSES | _LIMIT_JOB_MEMORY | _DIE_ON_UNHANDLED_EXCEPTION | _KILL_ON_JOB_CLOSE
    )
    limits.BasicLimitInformation.ActiveProcessLimit = processes
    limits.JobMemoryLimit = memory_bytes
    return limits


class JobObject:
    """A job; everything in it ends when it is closed, also when this program ends."""

    def __init__(self, memory_bytes: int, processes: int) -> None:
        self._kernel: Any = getattr(ctypes, "WinDLL")("kernel32", use_last_error=True)  # noqa: B009 - Windows only
        self._kernel.CreateJobObjectW.restype = wintypes.HANDLE
        self._kernel.OpenProcess.restype = wintypes.HANDLE
        self._job = wintypes.HANDLE(self._kernel.CreateJobObjectW(None, None))
        limits = build_limits(memory_bytes, processes)
        size = ctypes.sizeof(limits)
        if not self._job or not self._kernel.SetInformationJobObject(
            self._job, _EXTENDED_LIMITS, ctypes.byref(limits), size
        ):
            raise ToolError("Windows refuses to make a job for the command")

    def add(self, pid: int) -> None:
        """Take in a program; what it starts from then on belongs to the job as well. Raises ToolError."""
        program = wintypes.HANDLE(self._kernel.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, pid))
        try:
            if not program or not self._kernel.AssignProcessToJobObject(self._job, program):
                raise ToolError("Windows refuses to put the command into its job")
        finally:
            if program:
                self._kernel.CloseHandle(program)

    def close(self) -> None:
        """End everything in the job."""
        if self._job:
            self._kernel.CloseHandle(self._job)
            self._job = wintypes.HANDLE()
