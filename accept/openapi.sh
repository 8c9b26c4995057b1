#!/usr/bin/env bash
# The REST API of a cluster of this machine against its OpenAPI document, by schemathesis: no status
# 5xx, no answer of another schema, no status that the document does not have.
#
#   accept/openapi.sh bin/hammr
#
# EXAMPLES is the number of random requests to each operation, 20 by default.
#
# Without pip or PyPI the script reports that, and the check counts as not run.
set -euo pipefail
hammr=$(realpath "${1:-bin/hammr}")
dir=$(mktemp -d)
end() {
	"$hammr" down --dir "$dir/cluster" >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap end EXIT

if ! python3 -m venv "$dir/venv" || ! "$dir/venv/bin/python" -m pip install -q --disable-pip-version-check schemathesis==4.32.5; then
	echo "schemathesis: not run: python3 with venv, pip and PyPI is missing"
	exit 0
fi
HAMMR_MASTER=$("$hammr" up --dir "$dir/cluster" --masters 1 --tasknodes 2 --pools nightly --detach)
export HAMMR_MASTER HAMMR_TOKEN_FILE=$dir/cluster/token
page=http://$("$hammr" master status --json | "$dir/venv/bin/python" -c 'import json, sys; print(json.load(sys.stdin)["masters"][0]["http"])')
seq 1 1000 >"$dir/input"
"$hammr" run wordcount "$dir/input" "$dir/output" 2>/dev/null
job=$("$hammr" job list --all --json | "$dir/venv/bin/python" -c 'import json, sys; print(json.load(sys.stdin)[0]["jobId"])')

# A job that is over refuses changes, so the run changes nothing. Parameters that no operation has are
# refused although the document cannot say so; the check of positive data would report them. Profiles are
# left out: each takes up to a minute.
cat >"$dir/schemathesis.toml" <<END
[parameters]
"path.job" = "$job"
"path.attempt" = "attempt${job#job}_m_000000_0"
"path.node" = "n1"
"path.master" = "m1"
END
cd "$dir"
"$dir/venv/bin/schemathesis" --config-file "$dir/schemathesis.toml" run "$page/api/v1/openapi.json" -H "Authorization: Bearer $(cat "$HAMMR_TOKEN_FILE")" \
	--exclude-path-regex '/profile$' --phases examples,coverage,fuzzing --max-examples "${EXAMPLES:-20}" --exclude-checks positive_data_acceptance --no-color | tee "$dir/log"
sed -n 's/^ *\([0-9]* generated, [0-9]* passed\)/figure: test cases \1/p' "$dir/log"
