# Prints what fish offers for each line of standard input.
set PATH $PATH[1] # the programs that are offered are those here
for file in $BUILD/cli/*.fish
    source $file
end
while read -l line
    printf '%s:' $line
    for offer in (complete -C $line)
        printf ' <%s>' (string split -f1 \t -- $offer)
    end
    echo
end
