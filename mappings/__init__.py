"""The shipped mapping templates. Each is a mapping file (docs/mapping.md) that begins with a comment saying what it is for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

_SUFFIX = ".yaml"
_CHINESE = "# zh: "


@dataclass(frozen=True)
class Template:
    """One shipped mapping file."""

    name: str  # what -lm takes, and the file's name without .yaml
    title: str  # its first comment line
    title_zh: str  # the comment line that begins with "zh:", else the title
    text: str


def templates() -> list[Template]:
    """All templates, by name."""
    found = []
    for entry in files(__name__).iterdir():
        if entry.name.endswith(_SUFFIX):
            text = entry.read_text(encoding="utf-8")
            title = text.partition("\n")[0].lstrip("# ").strip()
            chinese = next((line[len(_CHINESE):].strip() for line in text.splitlines() if line.startswith(_CHINESE)), title)
            found.append(Template(entry.name[:-len(_SUFFIX)], title, chinese, text))
    return sorted(found, key=lambda template: template.name)
