"""The files of a benchmark's downloads, wherever they lie below the folders that were named."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fidal.data.benchmark import DataAbsent
from fidal.data.table import Table, read_table


class Originals:
    """Every file below the folders, found by its name: archives unpack in many ways."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [folder.absolute() for folder in folders]
        self._places: dict[str, list[str]] = {}
        for folder in self._folders:
            if not folder.is_dir():
                raise DataAbsent(f"--from {folder}: there is no such folder")
            for place, _, names in os.walk(folder):
                for name in names:
                    self._places.setdefault(name, []).append(place)

    def find(self, *names: str) -> Path | None:
        """The file of the first of these names that is there."""
        for name in names:
            places = sorted(set(self._places.get(name, ())))
            if len(places) > 1:
                raise ValueError(
                    f"'{name}' lies in {places[0]} and in {places[1]}; give --from only the folder "
                    "of the originals"
                )
            if places:
                return Path(places[0], name)
        return None

    def table(self, name: str, only: Sequence[str], what: str) -> Table:
        """These columns of a metadata file, which must be there; `what` says what it comes with."""
        path = self.find(name)
        if path is None:
            where = ", ".join(map(str, self._folders))
            raise DataAbsent(f"there is no '{name}' below {where}: it comes with {what}")
        return read_table(path, only)

    def matching(self, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], Path]]:
        """The files whose whole name fits, sorted by name."""
        for name in sorted(self._places):
            match = pattern.fullmatch(name)
            path = match and self.find(name)
            if match and path:
                yield match, path

    def below(self, path: Path) -> str:
        """The path of a found file below the folder that was named."""
        text = str(path)
        folder = next(
            str(folder) for folder in self._folders if text.startswith(f"{folder}{os.sep}")
        )
        return text[len(folder) + 1 :].replace(os.sep, "/")
