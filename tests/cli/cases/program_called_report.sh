# Two dashes make any word a program.
cat >../bin/report <<'END'
#!/bin/sh
echo "a program called report: $*"
exit 3
END
chmod +x ../bin/report
ln -s report ../bin/attach
resource-tracker -q -- report --help
echo "$?"
resource-tracker -q -- attach 1
