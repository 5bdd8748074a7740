command -v fish >/dev/null || { echo "fish is not installed"; exit 77; }
ln -s "$(command -v tail)" "$(command -v ps)" ../bin/ # fish itself calls them
touch 'a file' other
fish --no-config "$SOURCE/tests/cli/shells/complete.fish" <"$SOURCE/tests/cli/shells/lines"
