from pathlib import Path

import pytest

from fidal.data.table import check_present, read_table, refuse, repeated


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_only_the_columns_that_are_asked_for_are_kept_and_checked(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", ",a,b,b,c\n0, 1 ,2,3,4\n\n1,5,6,7,8\n")
    table = read_table(path, ("c", "a"))
    assert table.columns == {"c": ["4", "8"], "a": ["1", "5"]}
    assert table.lines == (2, 4)
    with pytest.raises(ValueError, match="column 'b' appears more than once"):
        read_table(path, ("b",))
    with pytest.raises(ValueError, match="column 'b' appears more than once"):
        read_table(path)
    with pytest.raises(ValueError, match=r"t\.csv: column 'd' is missing; known: , a, b"):
        read_table(path, ("d",))


def test_parquet_is_read_alike(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"a": [1, None], "b": ["x", " y "]}), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", ("b",)).columns == {"b": ["x", "y"]}
    assert read_table(tmp_path / "t.parquet").columns == {"a": ["1", ""], "b": ["x", "y"]}
    with pytest.raises(ValueError, match="column 'c' is missing"):
        read_table(tmp_path / "t.parquet", ("c",))


def test_a_header_alone_is_no_table(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "a,b\n"))
    with pytest.raises(ValueError, match="there is no row below the header"):
        check_present(table, ("a",))


def test_a_refusal_names_the_first_row_and_counts_the_others(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "a\nx\ny\nx\nx\n"))
    refuse(table, "a", [False] * 4, "is wrong")
    with pytest.raises(ValueError) as error:
        refuse(table, "a", repeated(table.columns["a"]), "stands there twice")
    told = f"{tmp_path / 't.csv'}, row 4, column 'a': 'x' stands there twice (and 1 more rows)"
    assert str(error.value) == told
