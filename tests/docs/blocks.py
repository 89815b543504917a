"""The code blocks of a document."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


def blocks(document: str, language: str) -> list[str]:
    """The texts of all blocks of one language, in their order."""
    text = (ROOT / document).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def first_column(document: str) -> list[str]:
    """What stands in backticks at the beginning of each line of its tables."""
    return re.findall(r"^\| `([^`]+)`", (ROOT / document).read_text("utf-8"), re.MULTILINE)
