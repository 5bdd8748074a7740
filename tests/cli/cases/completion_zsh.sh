command -v zsh >/dev/null || { echo "zsh is not installed"; exit 77; }
touch 'a file' other
zsh -f "$SOURCE/tests/cli/shells/complete.zsh" <"$SOURCE/tests/cli/shells/lines"
