# Each shell that is here reads its own file.
bash -n "$BUILD/cli/resource-tracker"
! command -v zsh >/dev/null || zsh -n "$BUILD/cli/_resource-tracker"
! command -v fish >/dev/null || fish -n "$BUILD/cli/resource-tracker.fish"
