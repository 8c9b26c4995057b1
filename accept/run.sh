#!/usr/bin/env bash
# The acceptance checks that take long or need tools from elsewhere, and a table of their results.
#
#   accept/run.sh [NAME...]
#
# A check prints lines "figure: ...", which the table has, and "NAME: not run: WHY" if it lacks a
# tool: then it counts as not run, not as passed. The exit code is 1 if a check has failed.
set -uo pipefail
cd "$(dirname "$0")/.."
hammr=$PWD/bin/hammr
: "${MINUTES:=10}"
logs=${ACCEPT_LOGS:-$(mktemp -d)}
mkdir -p "$logs"
logs=$(realpath "$logs")

# go_check runs a test that is compiled for `make accept` only, of e2e or another package.
go_check() { CGO_ENABLED=0 HAMMR_ACCEPT_MINUTES=$MINUTES go test -tags accept -count 1 -timeout 0 -v -run "^TestAccept$1\$" "${2:-./e2e}"; }

check_hadoop() { make --no-print-directory accept-hadoop; }
check_openapi() { accept/openapi.sh "$hammr"; }
check_lighthouse() { accept/lighthouse.sh; }
check_screenshots() { HAMMR_ACCEPT_BASE=${BASE:-} HAMMR_ACCEPT_PICTURES=$logs/screenshots go_check Screenshots ./internal/web; }
check_proxy() { accept/proxy.sh "$hammr"; }
check_simulation() { go_check Simulation; }
check_watchers() { go_check '(Idle)?Watchers'; }
check_soak() { go_check Soak; }
check_logs() { go_check Logs; }
check_truth() { go_check Truth; }

names=("$@")
((${#names[@]})) || names=(hadoop openapi lighthouse screenshots proxy simulation watchers soak logs truth)
status=0
rows=()
for name in "${names[@]}"; do
	log=$logs/$name.log
	echo "=== $name (output in $log)"
	began=$SECONDS
	if ! "check_$name" >"$log" 2>&1; then
		result=FAILED
		status=1
		tail -n 40 "$log"
	elif grep -q ': not run: ' "$log"; then
		result='not run'
	else
		result=passed
	fi
	figures=$(sed -n 's/.*figure: //p; s/.*: not run: /not run: /p' "$log" | paste -sd';' | sed 's/; */; /g')
	rows+=("$(printf '%-12s %-8s %5d s  %s' "$name" "$result" $((SECONDS - began)) "$figures")")
done
printf '\n%-12s %-8s %7s  %s\n' check result time figures
printf '%s\n' "${rows[@]}"
exit $status
