# Each shell that is here reads its own file.
for program in resource-tracker gpu-tracker; do
    bash -n "$BUILD/cli/$program" || exit
    ! command -v zsh >/dev/null || zsh -n "$BUILD/cli/_$program" || exit
    ! command -v fish >/dev/null || fish -n "$BUILD/cli/$program.fish" || exit
done
