# Reads `go test -v` of many packages. For each package that passes it prints one
# line with the number of its tests, and which of them were skipped; for one that
# fails, all that the package printed. Tests of `make nightly` are counted, not named. At the end come the slowest tests, and a line that counts everything.

function forget() { size = passed = failed = skipped = nightly = 0; skips = ""; delete night }

# A test may take LONG seconds, or it has a line in .ci/slow-tests: its name, a tab, and the reason. On a machine
# that does other work too, it may take longer: in proportion to the load above 2 for each processor, which is
# what the tests themselves make.
BEGIN {
	FS = "\t"; SLOWEST = 20; LONG = 20; forget()
	while ((getline line < ".ci/slow-tests") > 0) { split(line, cells, "\t"); reasons[cells[1]] = cells[2] }
}

# slow keeps a test among the SLOWEST ones. Its line is "--- PASS: NAME (1.23s)".
function slow(line,   i) {
	took = line; sub(/.*\(/, "", took); sub(/s\)$/, "", took); sub(/^--- [A-Z]+: /, "", line)
	for (i = slowest; i > 0 && times[i] < took + 0; i--) { times[i + 1] = times[i]; names[i + 1] = names[i] }
	times[i + 1] = took + 0; names[i + 1] = line
	if (slowest < SLOWEST) slowest++
}

/^--- (PASS|FAIL): / { slow($0) }
/^ *--- PASS: / { passed++ }
/^ *--- FAIL: / { failed++ }
# A test prints its reason before its result.
/^=== (RUN|NAME|CONT) / { current = $0; sub(/^=== [A-Z]+ +/, "", current) }
/: runs in make nightly / { night[current] = 1 }
/^ *--- SKIP: / {
	name = $0; sub(/^ *--- SKIP: /, "", name); test = name; sub(/ .*/, "", test)
	if (test in night) nightly++
	else { skipped++; skips = skips "      skipped: " name "\n" }
}

/^(ok  |FAIL|---)\t/ || /^\?   \t/ || /^\t.*\[no test files\]|^\t.*coverage: / {
	if ($1 == "FAIL") {
		for (i = 0; i < size; i++) print lines[i]
		broken++
	}
	if ($1 == "ok  " || $1 == "FAIL") {
		printf "%s  (%d passed, %d failed, %d skipped%s)\n%s", $0, passed, failed, skipped, nightly ? ", " nightly " at night" : "", skips
		packages++
	}
	all_passed += passed; all_failed += failed; all_skipped += skipped; all_nightly += nightly
	forget()
	fflush()
	next
}

{ lines[size++] = $0 }

END {
	for (i = 0; i < size; i++) if (lines[i] != "FAIL") print lines[i]
	"getconf _NPROCESSORS_ONLN" | getline processors
	if ((getline line < "/proc/loadavg") > 0) {
		split(line, cells, " ") # of the last 1, 5 and 15 minutes
		if (cells[3] > 2 * processors) LONG = int(LONG * cells[3] / (2 * processors))
	}
	if (slowest > 0) print "slowest tests; one may take " LONG " s, or has a reason:"
	for (i = 1; i <= slowest; i++) {
		name = names[i]; sub(/ .*/, "", name)
		print "  " names[i] (name in reasons ? ": " reasons[name] : "")
		if (times[i] > LONG && !(name in reasons)) {
			print "FAIL: " name " takes more than " LONG " s: shorten it, leave it to make nightly, or give the reason in .ci/slow-tests"
			slow_ones++
		}
	}
	printf "tests: %d passed, %d failed, %d skipped, %d left to make nightly, in %d packages", all_passed, all_failed, all_skipped, all_nightly, packages
	printf broken ? " (%d packages FAILED)\n" : "\n", broken
	exit broken + slow_ones > 0
}
