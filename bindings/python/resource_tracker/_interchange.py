"""A native table for libraries that exchange tables: the dataframe interchange protocol, and numpy.

https://data-apis.org/dataframe-protocol/latest/
"""

import ctypes
import enum


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

    def __init__(self, table, address, size):
        self._table = table
        self._address = address
        self._size = size

    @property
    def bufsize(self):
        return self._size

    @property
    def ptr(self):
        return self._address

    def __dlpack__(self):
        raise NotImplementedError("__dlpack__")

    def __dlpack_device__(self):
        return (1, None)  # the CPU


class Column:
    def __init__(self, table, index):
        self._table = table
        (self._kind, self._values, self._bytes, self._offsets, self._present, self._present_bytes,
         self._absent) = table.memory(index)

    def size(self):
        return len(self._table)

    @property
    def offset(self):
        return 0

    @property
    def dtype(self):
        return _FLOAT64 if self._kind == "g" else _STRING

    @property
    def describe_categorical(self):
        raise TypeError("no column has categories")

    @property
    def describe_null(self):
        return (NullKind.USE_BITMASK, 0) if self._present else (NullKind.NON_NULLABLE, None)

    @property
    def null_count(self):
        return self._absent

    @property
    def metadata(self):
        return {}

    def num_chunks(self):
        return 1

    def get_chunks(self, n_chunks=None):
        yield self

    def get_buffers(self):
        table = self._table
        buffers = {"data": (Buffer(table, self._values, self._bytes), _FLOAT64 if self._kind == "g" else _BYTE),
                   "validity": None, "offsets": None}
        if self._present:
            buffers["validity"] = (Buffer(table, self._present, self._present_bytes), _BITS)
        if self._offsets:
            buffers["offsets"] = (Buffer(table, self._offsets, 4 * (len(table) + 1)), _OFFSET)
        return buffers


class DataFrame:
    version = 0

    def __init__(self, table):
        self._table = table
        self._names = table.names()

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self

    @property
    def metadata(self):
        return {}

    def num_columns(self):
        return len(self._names)

    def num_rows(self):
        return len(self._table)

    def num_chunks(self):
        return 1

    def column_names(self):
        return list(self._names)

    def get_column(self, i):
        return Column(self._table, i)

    def get_column_by_name(self, name):
        return Column(self._table, self._names.index(name))

    def get_columns(self):
        return [Column(self._table, i) for i in range(len(self._names))]

    def select_columns(self, indices):
        return self.select_columns_by_name([self._names[i] for i in indices])

    def select_columns_by_name(self, names):
        from ._native import Table

        lists = [self._table.column(self._names.index(name)) for name in names]
        return DataFrame(Table.from_columns(list(names), lists, len(self._table)))

    def get_chunks(self, n_chunks=None):
        yield self


def numpy_columns(table) -> dict:
    """Columns by name: numbers as arrays over the table's memory, texts as lists."""
    import numpy

    columns = {}
    for i, name in enumerate(table.names()):
        kind, address, size = table.memory(i)[:3]
        if kind != "g":
            columns[name] = table.column(i)
            continue
        memory = (ctypes.c_double * (size // 8)).from_address(address)
        memory.table = table  # the array keeps the memory, and this the table
        columns[name] = numpy.frombuffer(memory, dtype=numpy.float64)
    return columns
