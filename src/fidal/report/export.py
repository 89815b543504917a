"""Figures as PNG and SVG, and as SVG that may stand inside a page beside others."""

import io
import re
from html import escape
from typing import Final

from matplotlib.figure import Figure

from fidal.report.style import styled

DPI: Final = 300
"""Print; the page shows SVG."""


@styled
def png(figure: Figure, dpi: int = DPI) -> bytes:
    """The same bytes for the same figure."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=dpi, metadata={"Software": None})
    return out.getvalue()


@styled
def svg(figure: Figure) -> str:
    """A file of its own; text is drawn as paths, so it looks the same everywhere."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": "fidal"})
    return out.getvalue()


def inline(text: str, prefix: str, label: str) -> str:
    """For a page: no prolog, ids of its own, `data-strategy` where an artist was tagged."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'id="strategy=([^"]*)"', r'data-strategy="\1"', text)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r'(href="|url\()#', rf"\1#{prefix}-", text)
    text = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", text, count=1)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(label)}"', 1)
