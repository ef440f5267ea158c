"""Which files count as written by others although nobody saw them come: documents that people mostly receive.

Plain text, tables and source code are as a rule the person's own and do not count. Spec: security.md, "Untrusted
content".
"""

from pathlib import Path, PurePath

_RECEIVED = frozenset(
    {
        *(".pdf", ".doc", ".docx", ".docm", ".odt", ".rtf", ".ppt", ".pptx", ".odp", ".xls", ".xlsx", ".xlsm", ".ods"),
        *(".eml", ".msg", ".mbox", ".ics", ".vcf", ".html", ".htm", ".xhtml", ".mht", ".mhtml", ".epub"),
        *(".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar"),
    }
)
_DOWNLOADS = frozenset({"downloads", "download"})


def is_received_kind(name: str) -> bool:
    """Whether a file of this name is of a kind that others usually wrote."""
    return PurePath(name).suffix.casefold() in _RECEIVED


def lies_in_downloads(path: Path) -> bool:
    """Whether a file lies in the person's folder of downloads."""
    home = Path.home()
    return home in path.parents and path.relative_to(home).parts[0].casefold() in _DOWNLOADS
