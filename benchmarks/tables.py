"""How benchmarks print their tables."""

from rich.console import Console
from rich.table import Table


def show(title: str, heads: list[str], rows: list[list[str]], markdown: bool) -> None:
    if markdown:
        lines = [heads, ["---"] * len(heads), *rows]
        print(f"\n{title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines), flush=True)
        return
    table = Table(*heads, title=title)
    for row in rows:
        table.add_row(*row)
    Console(width=140).print(table)
