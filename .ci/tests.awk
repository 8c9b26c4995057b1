# Reads `go test -v` of many packages. For each package that passes it prints one
# line with the number of its tests, and which of them were skipped; for one that
# fails, all that the package printed. The last line counts everything.

function forget() { size = passed = failed = skipped = 0; skips = "" }

BEGIN { FS = "\t"; forget() }

/^ *--- PASS: / { passed++ }
/^ *--- FAIL: / { failed++ }
/^ *--- SKIP: / { skipped++; name = $0; sub(/^ *--- SKIP: /, "", name); skips = skips "      skipped: " name "\n" }

/^(ok  |FAIL|---)\t/ || /^\?   \t/ || /^\t.*\[no test files\]|^\t.*coverage: / {
	if ($1 == "FAIL") {
		for (i = 0; i < size; i++) print lines[i]
		broken++
	}
	if ($1 == "ok  " || $1 == "FAIL") {
		printf "%s  (%d passed, %d failed, %d skipped)\n%s", $0, passed, failed, skipped, skips
		packages++
	}
	all_passed += passed; all_failed += failed; all_skipped += skipped
	forget()
	fflush()
	next
}

{ lines[size++] = $0 }

END {
	for (i = 0; i < size; i++) if (lines[i] != "FAIL") print lines[i]
	printf "tests: %d passed, %d failed, %d skipped in %d packages", all_passed, all_failed, all_skipped, packages
	printf broken ? " (%d packages FAILED)\n" : "\n", broken
	exit broken > 0
}
