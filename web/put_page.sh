#!/bin/sh
# Puts the page into a source package, which is then built without node.
set -eu
if ! node "$MESON_SOURCE_ROOT/web/bundle.mjs" "$MESON_DIST_ROOT/web/report_page.html"; then
    echo "a source package carries the report's page, which can't be bundled here: run tools/bootstrap page first" >&2
    exit 1
fi
