# Reads `go test -v`, whose tests are named Test/device/bus/operation/fault, or
# Test/device/bus/check for those of the conformance suite. Prints a row for
# each, and the whole output of those that failed. Ends with 1 if one failed or
# if there is none.

BEGIN {
	fault["unplug"] = "unplugged"; fault["garble"] = "wires disturbed"
	fault["stick"] = "no answer"; fault["delay"] = "slow"
	row("DEVICE", "BUS", "OPERATION", "FAULT", "VERDICT")
}
function row(device, bus, operation, fault, verdict) {
	printf "%-16s %-13s %-13s %-35s %s\n", device, bus, operation, fault, verdict
}

/^=== (RUN|NAME|CONT) / { test = $0; sub(/^=== [A-Z]+ +/, "", test); next }
/^ *--- (PASS|FAIL|SKIP): / {
	test = $0
	sub(/^ *--- [A-Z]+: /, "", test); sub(/ \([0-9.]+s\)$/, "", test)
	n = split(test, part, "/")
	if (part[1] == "TestConformance" ? n != 4 : n != 5) next
	for (i = 2; i <= n; i++) gsub(/_/, " ", part[i])
	said = last[test]
	sub(/^ *[a-z_]+\.go:[0-9]+: /, "", said)
	if ($2 == "PASS:") verdict = said ~ /^note: / ? "pass, " substr(said, 7) : "pass"
	if ($2 == "FAIL:") { verdict = "FAIL"; failed++; all = all "\n" test "\n" held[test] }
	if ($2 == "SKIP:") verdict = "not here: " said
	row(part[2], part[3], n == 5 ? part[4] : part[4] in fault ? "poll, order" : part[4],
		n == 5 ? part[5] : part[4] in fault ? fault[part[4]] : "none", verdict)
	rows++
	next
}
{ if ($0 ~ /\.go:[0-9]+: /) last[test] = $0; held[test] = held[test] $0 "\n"; tail = tail $0 "\n" }

END {
	printf "%d rows, %d failed\n%s", rows, failed, all
	if (!rows) printf "%s", tail
	exit failed > 0 || rows == 0
}
