command -v groff >/dev/null || { echo "groff is not here"; exit 77; }
groff -man -ww -Tutf8 "$BUILD/cli/resource-tracker.1" >/dev/null && groff -man -ww -Tutf8 "$BUILD/cli/gpu-tracker.1" >/dev/null
