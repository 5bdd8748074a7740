"""A small table: columns of numbers or texts, enough to look at samples without a larger library.

Samples of a tracker stay in native memory until they are asked for: the number of rows and single rows cost the same
however many there are. pandas, polars and Arrow take the table as it lies in memory.
"""

from __future__ import annotations

from collections import namedtuple

from ._lazy import LazyLogger

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Literal, Optional, Union

    from ._interchange import DataFrame
    from ._native import Table

logger = LazyLogger(__name__)


class StatSpec(namedtuple("StatSpec", ("column", "agg", "agg_name", "round"), defaults=(None, None))):
    """A statistic of one column.

    Args:
        column: The column's name.
        agg: What makes one value of a list of them.
        agg_name: What the result is called. Defaults to the function's name.
        round: To so many decimals. Defaults to None: not at all.
    """

    __slots__ = ()


class TinyDataFrame:
    """A table of columns.

    Args:
        data: Columns by name, or rows as dictionaries, or the text of a CSV file.
        csv_file_path: Instead of data: where a CSV file is, with its header and its texts quoted. An http(s) address
            does as well.
        retries: How often to try again where it can't be read (yet).
        retry_delay: Seconds before the first of these; twice as many before each next one.

    Example:
        >>> df = TinyDataFrame({"step": ["load", "fit", "save"], "seconds": [1.5, 20.0, 0.5]})
        >>> len(df), df.columns
        (3, ['step', 'seconds'])
        >>> df["seconds"]
        [1.5, 20.0, 0.5]
        >>> df[1]
        {'step': 'fit', 'seconds': 20.0}
        >>> print(df[:2])
        TinyDataFrame with 2 rows and 2 columns:
        step | seconds
        -----+--------
        load |     1.5
        fit  |    20.0
        >>> df.to_csv().splitlines()[:2]
        ['"step","seconds"', '"load",1.5']
    """

    columns: List[str] = []
    """The columns' names."""

    def __init__(
        self,
        data: Optional[Union[Dict[str, List[float]], List[Dict[str, float]], str]] = None,
        csv_file_path: Optional[str] = None,
        retries: int = 0,
        retry_delay: float = 0.1,
    ) -> None:
        assert data is not None or csv_file_path is not None, "either data or csv_file_path must be provided"
        assert data is None or csv_file_path is None, "only one of data or csv_file_path must be provided"
        assert data is None or isinstance(data, (dict, list, str)), "data must be a dictionary or a list"
        assert csv_file_path is None or isinstance(csv_file_path, str) or hasattr(csv_file_path, "__fspath__"), (
            "csv_file_path must be a string")
        self._source: Any = None
        self._lists: Optional[List[List[Any]]] = []
        self.columns = []
        if csv_file_path is not None:
            data = self._read_csv(csv_file_path, retries=retries, retry_delay=retry_delay)
        elif isinstance(data, str):
            data = _parse_csv(data.splitlines())
        if isinstance(data, dict):
            self.columns = list(data)
            self._lists = list(data.values())
        elif data and isinstance(data[0], dict):
            # Columns in the order in which rows name them.
            self.columns = list(dict.fromkeys(name for row in data for name in row))
            self._lists = [[row.get(name) for row in data] for name in self.columns]

    @classmethod
    def _of_source(cls, source: Any) -> TinyDataFrame:
        """Over rows that are elsewhere: `source` has `rows`, `names()` and `table(first, count)`."""
        frame = cls(data=[])
        frame._source = source
        frame._lists = None
        frame.columns = source.names()
        return frame

    @property
    def _data(self) -> List[List[Any]]:
        """The columns' values, each a list."""
        if self._lists is None:
            table = self._source.table(0, self._source.rows)
            self._lists = [table.column(i) for i in range(len(self.columns))]
            self._source = None
        return self._lists

    @staticmethod
    def _read_csv(csv_file_path: str, retries: int = 0, retry_delay: float = 0.1) -> List[Dict[str, Any]]:
        """Rows of a CSV file.

        Raises:
            RuntimeError: It could not be read after all attempts.
        """
        from time import sleep

        for attempt in range(retries + 1):
            try:
                return _parse_csv(_lines_of(csv_file_path))
            except Exception as e:
                if attempt == retries:
                    raise RuntimeError(
                        f"Failed to read CSV file after {retries + 1} attempts: {csv_file_path}") from e
                logger.debug(f"Failed to read CSV file: {csv_file_path}. Retry attempt {attempt + 1}/{retries}...")
                sleep(retry_delay)
                retry_delay *= 2
        raise AssertionError("not reached")

    def __len__(self) -> int:
        """How many rows there are."""
        if self._lists is None:
            return int(self._source.rows)
        return len(self._lists[0]) if self._lists else 0

    def __getitem__(
        self, key: Union[str, List[str], int, slice]
    ) -> Union[List[float], Dict[str, float], TinyDataFrame]:
        """A column by its name, columns by a list of names, a row by its number, or rows by a slice.

        Returns:
            A list, a table, a dictionary or a table.
        """
        if isinstance(key, str):
            return self._data[self._index_of(key)]
        if isinstance(key, int):
            return self._row(key)
        if isinstance(key, slice):
            return self._slice(key)
        if isinstance(key, list) and all(isinstance(name, str) for name in key):
            return TinyDataFrame({name: self._data[self._index_of(name)] for name in key})
        raise TypeError(f"Invalid key type: {type(key)}")

    def _index_of(self, name: str) -> int:
        if name not in self.columns:
            raise KeyError(f"Column '{name}' not found")
        return self.columns.index(name)

    def _row(self, index: int) -> Dict[str, Any]:
        if self._lists is not None:
            return {name: values[index] for name, values in zip(self.columns, self._lists)}
        rows = self._source.rows
        if not -rows <= index < rows:
            raise IndexError("list index out of range")
        row = self._source.table(index % rows, 1).row(0)
        return dict(zip(self.columns, row.values()))

    def _slice(self, key: slice) -> TinyDataFrame:
        first, end, step = key.indices(len(self))
        if self._lists is None and step == 1 and first < end:
            part = TinyDataFrame._of_source(self._source.part(first, end - first))
            part.columns = list(self.columns)
            return part
        return TinyDataFrame({name: values[key] for name, values in zip(self.columns, self._data)})

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        """The rows as dictionaries."""
        for values in zip(*self._data):
            yield dict(zip(self.columns, values))

    def __setitem__(self, key: str, value: List[float]) -> None:
        """Set a column, new or not.

        Raises:
            TypeError: The name is no text.
            ValueError: There are more or fewer values than rows.
        """
        if not isinstance(key, str):
            raise TypeError(f"Column name must be a string, got {type(key)}")
        if len(self) > 0 and len(value) != len(self):
            raise ValueError(f"Length of values ({len(value)}) must match dataframe length ({len(self)})")
        if key in self.columns:
            self._data[self.columns.index(key)] = value
        else:
            self._data.append(value)
            self.columns.append(key)

    def head(self, n: int = 5) -> TinyDataFrame:
        """The first n rows."""
        return self._slice(slice(0, n))

    def tail(self, n: int = 5) -> TinyDataFrame:
        """The last n rows."""
        return self._slice(slice(-n, None) if n else slice(0, 0))

    def __repr__(self) -> str:
        first = self[0] if len(self) else {}
        return (f"TinyDataFrame with {len(self)} rows and {len(self.columns)} columns. "
                f"First row as a dict: {first}")

    def __str__(self) -> str:
        """The first ten rows as text."""
        title = f"TinyDataFrame with {len(self)} rows and {len(self.columns)} columns:\n"
        if len(self) == 0:
            return title + "Empty dataframe"
        shown = self.head(10)
        cells = [[str(value) for value in values] for values in shown._data]
        widths = [max(map(len, [name, *texts])) for name, texts in zip(self.columns, cells)]
        lines = [" | ".join(name.ljust(width) for name, width in zip(self.columns, widths)),
                 "-+-".join("-" * width for width in widths)]
        for row in zip(*cells):
            lines.append(" | ".join(text.rjust(width) if _is_number(text) else text.ljust(width)
                                    for text, width in zip(row, widths)))
        if len(self) > len(shown):
            lines.append("..." + " " * (len(lines[0]) - 3))
        return title + "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the first ten rows."""
        from html import escape

        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row.values()) + "</tr>"
                       for row in self.head(10))
        return (f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
                f"<p>{len(self)} rows, {len(self.columns)} columns</p>")

    def rename(self, columns: Dict[str, Any]) -> TinyDataFrame:
        """Rename columns.

        Args:
            columns: New names by old ones.

        Returns:
            The table itself.

        Raises:
            KeyError: There is no column of an old name.
        """
        for name in columns:
            if name not in self.columns:
                raise KeyError(f"Column '{name}' not found in dataframe")
        self.columns = [columns.get(name, name) for name in self.columns]
        return self

    def to_csv(self, csv_file_path: Optional[str] = None, quote_strings: bool = True) -> Optional[str]:
        """Write CSV.

        Args:
            csv_file_path: Where to. Defaults to None: the text is returned.
            quote_strings: Whether texts and names are quoted always, or only where they must be.
        """
        import csv
        from io import StringIO

        quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if quote_strings else csv.QUOTE_MINIMAL
        with open(csv_file_path, "w", newline="") if csv_file_path else StringIO(newline="") as file:
            lines = csv.writer(file, quoting=quoting)
            lines.writerow(self.columns)
            lines.writerows(zip(*self._data))
            return file.getvalue() if isinstance(file, StringIO) else None

    def to_dict(self) -> List[Dict[str, Any]]:
        """The rows, each a dictionary."""
        return list(self)

    def stats(self, specs: List[StatSpec]) -> Dict[str, Any]:
        """Statistics of columns. Absent values are left out; one that can't be computed is logged and left out.

        Args:
            specs: What to compute.

        Returns:
            By column, then by the statistic's name.
        """
        results: Dict[str, Dict[str, Any]] = {}
        for spec in specs:
            try:
                name = spec.agg_name or spec.agg.__name__
                values = [value for value in self[spec.column] if value is not None]
                result = spec.agg(values) if values else None
                if result is not None and spec.round is not None:
                    result = round(result, spec.round)
                results.setdefault(spec.column, {})[name] = result
            except Exception as e:
                logger.error(f"Error collecting statistic on {spec.column} with {spec.agg_name}: {e}")
        return results

    # ---- other libraries ----

    def _table(self) -> Table:
        """The native table, without a copy where the samples are native and unchanged."""
        from ._native import Table

        if self._lists is None:
            table: Table = self._source.table(0, self._source.rows)
            if table.names() == self.columns:
                return table
        return Table.from_columns(self.columns, self._data, len(self))

    def __arrow_c_schema__(self) -> Any:
        """The columns' types for Arrow."""
        return self._table().__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """The table for Arrow, as one batch."""
        return self._table().__arrow_c_array__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for Arrow, as a stream."""
        return self._table().__arrow_c_stream__()

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> DataFrame:
        """The table for libraries that exchange tables."""
        from ._interchange import DataFrame

        return DataFrame(self._table())

    def to_pandas(self) -> Any:
        """A pandas.DataFrame over the same memory; an absent number is NaN."""
        import pandas

        from ._interchange import numpy_columns

        return pandas.DataFrame(numpy_columns(self._table()), copy=False)

    def to_polars(self) -> Any:
        """A polars.DataFrame over the same memory."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """A pyarrow.Table over the same memory."""
        import pyarrow

        return pyarrow.table(self)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _lines_of(path: str) -> List[str]:
    if isinstance(path, str) and path.startswith(("http://", "https://")):
        from urllib.request import urlopen

        with urlopen(path) as response:
            text: str = response.read().decode("utf-8")
        return text.splitlines()
    with open(path, newline="") as file:
        return file.read().splitlines()


def _parse_csv(lines: List[str]) -> List[Dict[str, Any]]:
    import csv

    rows = list(csv.DictReader((_with_absent(line) for line in lines), quoting=csv.QUOTE_NONNUMERIC))
    if any(None in row for row in rows):
        raise ValueError("Corrupt CSV file with unknown column names.")
    return [{name: None if value == "" else value for name, value in row.items()} for row in rows]


def _with_absent(line: str) -> str:
    """An empty cell is an absent value, quoted or not; the reader wants it quoted."""
    if ",," not in line and line[:1] != "," and line[-1:] != ",":
        return line
    if '"' in line:  # a text may hold commas: cell by cell
        import csv

        cells = next(csv.reader([line]))
        return ",".join(cell if _is_number(cell) else '"' + cell.replace('"', '""') + '"' for cell in cells)
    return ",".join(cell if cell else '""' for cell in line.split(","))
