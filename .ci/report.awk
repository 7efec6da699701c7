# Reads `go test -v` followed by a line "exit N", prints one plain line for each
# package, the whole output of those that failed, and at the end the tests that
# were skipped, each with its reason. Ends with N.

/^exit [0-9]+$/ { code = $2; next }

/^(ok  |FAIL|\?   )\t/ {
	if ($1 == "FAIL") printf "%s", held
	if ($1 != "?") print
	for (name in here) { skipped[++skips] = $2 " " name ": " here[name]; delete here[name] }
	held = ""
	next
}

# What a test says last is its reason, if it is skipped.
/^=== / { test = $3; next }
/^ *--- SKIP: / { here[$3] = said[$3]; next }
/^ *--- PASS: |^PASS$/ { next }
/^ +[^ ]+\.go:[0-9]+: / { said[test] = $0; sub(/^ +[^ ]+ /, "", said[test]) }
{ held = held $0 "\n" }

END {
	printf "%s", held
	if (skips) print "skipped:"
	for (i = 1; i <= skips; i++) print "  " skipped[i]
	exit code
}
