"""`fidal encoders`: the weights out of a file that holds more, once."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fidal.checkpoints.convert import Contents, look_into, write

app = typer.Typer(help="Files of frozen encoders' weights.", no_args_is_help=True)

SHOWN = 6


@app.callback()
def encoders() -> None:
    """Files of frozen encoders' weights."""


@app.command()
def convert(
    file: Annotated[Path, typer.Argument(help="a PyTorch file, e.g. Mammo-CLIP's .tar")],
    out: Annotated[Path, typer.Option(help="the .safetensors file to write")],
    yes: Annotated[bool, typer.Option("--yes", help="write without asking")] = False,
) -> None:
    """Write a file's tensors as .safetensors, without running what else is in it."""
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"reading {file}: tensors only, nothing that it names is imported or run ...")
    contents = look_into(file)
    _describe(console, contents)
    if out.exists():
        console.print(f"{out} is there already and would be replaced")
    if not yes:
        typer.confirm(f"write {out}?", abort=True)
    write(contents, out)
    console.print(f"{out} is written; give it as checkpoint = in place of {file}")


def _describe(console: Console, contents: Contents) -> None:
    n, shells = len(contents.weights), contents.shells
    console.print(f"{n:,} tensors, {contents.size / 1e6:,.1f} MB: these would be written")
    if shells:
        first = ", ".join(shells[:SHOWN]) + (", ..." if len(shells) > SHOWN else "")
        console.print(
            f"left out, and not built either: what {len(shells)} names stand for: {first}"
        )
