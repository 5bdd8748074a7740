"""A native table for libraries that exchange tables: the dataframe interchange protocol, and numpy.

https://data-apis.org/dataframe-protocol/latest/
"""

from __future__ import annotations

import ctypes
import enum

TYPE_CHECKING = False  # typing takes long to import, and only who checks types needs it
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, NoReturn, Optional, Sequence, Tuple

    from ._native import Table

    Dtype = Tuple[int, int, str, str]


class DtypeKind(enum.IntEnum):
    FLOAT = 2
    STRING = 21


class NullKind(enum.IntEnum):
    NON_NULLABLE = 0
    USE_BITMASK = 3


_FLOAT64 = (DtypeKind.FLOAT, 64, "g", "=")
_STRING = (DtypeKind.STRING, 8, "u", "=")
_OFFSET = (0, 32, "i", "=")
_BITS = (20, 1, "b", "=")
_BYTE = (1, 8, "C", "=")


class Buffer:
    """A piece of memory of a table, which it keeps alive."""

    def __init__(self, table: Table, address: int, size: int) -> None:
        self._table = table
        self._address = address
        self._size = size

    @property
    def bufsize(self) -> int:
        return self._size

    @property
    def ptr(self) -> int:
        return self._address

    def __dlpack__(self) -> NoReturn:
        raise NotImplementedError("__dlpack__")

    def __dlpack_device__(self) -> Tuple[int, None]:
        return (1, None)  # the CPU


class Column:
    def __init__(self, table: Table, index: int) -> None:
        self._table = table
        (self._kind, self._values, self._bytes, self._offsets, self._present, self._present_bytes,
         self._absent) = table.memory(index)

    def size(self) -> int:
        return len(self._table)

    @property
    def offset(self) -> int:
        return 0

    @property
    def dtype(self) -> Dtype:
        return _FLOAT64 if self._kind == "g" else _STRING

    @property
    def describe_categorical(self) -> NoReturn:
        raise TypeError("no column has categories")

    @property
    def describe_null(self) -> Tuple[NullKind, Optional[int]]:
        return (NullKind.USE_BITMASK, 0) if self._present else (NullKind.NON_NULLABLE, None)

    @property
    def null_count(self) -> int:
        return self._absent

    @property
    def metadata(self) -> Dict[str, Any]:
        return {}

    def num_chunks(self) -> int:
        return 1

    def get_chunks(self, n_chunks: Optional[int] = None) -> Iterator[Column]:
        yield self

    def get_buffers(self) -> Dict[str, Optional[Tuple[Buffer, Dtype]]]:
        table = self._table
        buffers: Dict[str, Optional[Tuple[Buffer, Dtype]]] = {
            "data": (Buffer(table, self._values, self._bytes), _FLOAT64 if self._kind == "g" else _BYTE),
            "validity": None, "offsets": None}
        if self._present:
            buffers["validity"] = (Buffer(table, self._present, self._present_bytes), _BITS)
        if self._offsets:
            buffers["offsets"] = (Buffer(table, self._offsets, 4 * (len(table) + 1)), _OFFSET)
        return buffers


class DataFrame:
    version = 0

    def __init__(self, table: Table) -> None:
        self._table = table
        self._names = table.names()

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> DataFrame:
        return self

    @property
    def metadata(self) -> Dict[str, Any]:
        return {}

    def num_columns(self) -> int:
        return len(self._names)

    def num_rows(self) -> int:
        return len(self._table)

    def num_chunks(self) -> int:
        return 1

    def column_names(self) -> List[str]:
        return list(self._names)

    def get_column(self, i: int) -> Column:
        return Column(self._table, i)

    def get_column_by_name(self, name: str) -> Column:
        return Column(self._table, self._names.index(name))

    def get_columns(self) -> List[Column]:
        return [Column(self._table, i) for i in range(len(self._names))]

    def select_columns(self, indices: Sequence[int]) -> DataFrame:
        return self.select_columns_by_name([self._names[i] for i in indices])

    def select_columns_by_name(self, names: Sequence[str]) -> DataFrame:
        from ._native import Table

        lists = [self._table.column(self._names.index(name)) for name in names]
        return DataFrame(Table.from_columns(list(names), lists, len(self._table)))

    def get_chunks(self, n_chunks: Optional[int] = None) -> Iterator[DataFrame]:
        yield self


def numpy_columns(table: Table) -> Dict[str, Any]:
    """Columns by name: numbers as arrays over the table's memory, texts as lists."""
    import numpy

    columns: Dict[str, Any] = {}
    for i, name in enumerate(table.names()):
        kind, address, size = table.memory(i)[:3]
        if kind != "g":
            columns[name] = table.column(i)
            continue
        memory = (ctypes.c_double * (size // 8)).from_address(address)
        memory.table = table  # type: ignore[attr-defined]  # the array keeps the memory, and this the table
        columns[name] = numpy.frombuffer(memory, dtype=numpy.float64)
    return columns
