"""Where SQLite and zlib have no headers the libraries are opened when they are called: the declarations for that fit."""

import os
import shutil
import subprocess

import pytest
from conftest import ROOT, skip_or_fail

LATE = os.path.join(ROOT, "bindings", "python", "late")

ZLIB = r"""
#include <stdio.h>
#include <string.h>
#include <zlib.h>
int main(void)
{
    char text[4000], back[4000];
    unsigned char packed[8000];
    for (int i = 0; i < 4000; i++)
        text[i] = (char)('a' + i % 7);
    z_stream out = {.next_in = (const Bytef *)text, .avail_in = sizeof text, .next_out = packed, .avail_out = sizeof packed};
    if (deflateInit2(&out, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK || deflate(&out, Z_FINISH) != Z_STREAM_END)
        return 1;
    z_stream in = {.next_in = packed, .avail_in = (uInt)out.total_out, .next_out = (Bytef *)back, .avail_out = sizeof back};
    if (inflateInit2(&in, 15 + 32) != Z_OK || inflate(&in, Z_NO_FLUSH) != Z_STREAM_END || inflateReset(&in) != Z_OK)
        return 2;
    uLongf len = compressBound(sizeof text), back_len = sizeof back;
    if (compress2(packed, &len, (const Bytef *)text, sizeof text, 9) != Z_OK ||
        uncompress((Bytef *)back, &back_len, packed, len) != Z_OK)
        return 3;
    printf("%d %lu %08lx\n", memcmp(text, back, sizeof text), back_len, crc32(0, (const Bytef *)"123456789", 9));
    return deflateEnd(&out) || inflateEnd(&in);
}
"""

SQLITE = r"""
#include <sqlite3.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    sqlite3 *db;
    sqlite3_stmt *row;
    char number[40];
    if (argc < 2 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
        return 1;
    sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0);
    sqlite3_exec(db, "CREATE TABLE t (a REAL, b TEXT, c)", NULL, NULL, NULL);
    sqlite3_prepare_v3(db, "INSERT INTO t VALUES (?, ?, ?)", -1, SQLITE_PREPARE_PERSISTENT, &row, NULL);
    sqlite3_bind_double(row, 1, 0.1);
    sqlite3_bind_text(row, 2, "text", -1, SQLITE_TRANSIENT);
    sqlite3_bind_null(row, 3);
    if (sqlite3_step(row) != SQLITE_DONE || sqlite3_finalize(row) != SQLITE_OK)
        return 2;
    sqlite3_prepare_v2(db, "SELECT * FROM t", -1, &row, NULL);
    if (sqlite3_step(row) != SQLITE_ROW || sqlite3_column_type(row, 2) != SQLITE_NULL)
        return 3;
    sqlite3_snprintf(sizeof number, number, "%!.17g", sqlite3_column_double(row, 0));
    printf("%s %s %s %d %d\n", number, sqlite3_column_text(row, 1), sqlite3_column_name(row, 1), sqlite3_column_count(row),
           sqlite3_limit(db, SQLITE_LIMIT_COLUMN, -1) > 100);
    sqlite3_exec(db, "SELECT nonsense", NULL, NULL, NULL);
    printf("%s\n", sqlite3_errmsg(db));
    return sqlite3_finalize(row) || sqlite3_close(db);
}
"""


def run_late(tmp_path, name, source, *arguments):
    compiler = shutil.which("cc")
    if not compiler:
        skip_or_fail("no C compiler")
    (tmp_path / "main.c").write_text(source)
    subprocess.run([compiler, "-std=gnu17", "-Wall", "-Werror", "-I", os.path.join(LATE, name), "-o", tmp_path / "main",
                    tmp_path / "main.c", os.path.join(LATE, f"late_{name}.c"), "-ldl"], check=True)
    return subprocess.run([tmp_path / "main", *arguments], capture_output=True, text=True, check=True).stdout


def test_zlib(tmp_path):
    assert run_late(tmp_path, "zlib", ZLIB) == "0 4000 cbf43926\n"


def test_sqlite(tmp_path):
    lines = run_late(tmp_path, "sqlite", SQLITE, str(tmp_path / "t.sqlite")).splitlines()
    assert lines == ["0.10000000000000001 text b 3 1", "no such column: nonsense"]


@pytest.mark.parametrize("name, missing", [("zlib", "libz.so.1"), ("sqlite", "libsqlite3.so.0")])
def test_a_library_that_is_not_here(tmp_path, name, missing):
    """It is told as a failure of the call, not as a crash."""
    source = {"zlib": '#include <zlib.h>\nint main(void) { z_stream s = {0}; return inflateInit2(&s, 15) == '
                      "Z_VERSION_ERROR ? 0 : 1; }",
              "sqlite": "#include <sqlite3.h>\n#include <string.h>\nint main(void) { sqlite3 *db; return "
                        "sqlite3_open_v2(\"x\", &db, 1, 0) == SQLITE_ERROR && strstr(sqlite3_errmsg(db), "
                        "\"is not here\") ? 0 : 1; }"}[name]
    path = tmp_path / f"late_{name}.c"
    with open(os.path.join(LATE, f"late_{name}.c"), encoding="utf-8") as file:
        path.write_text(file.read().replace(missing, "libno-such.so"))
    (tmp_path / "main.c").write_text(source)
    subprocess.run(["cc", "-std=gnu17", "-I", os.path.join(LATE, name), "-I", LATE, "-o", tmp_path / "main",
                    tmp_path / "main.c", path, "-ldl"], check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0
