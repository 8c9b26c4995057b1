#!/usr/bin/env bash
# Clients of Hadoop's REST API on a cluster of this machine: yarn-api-client and Datadog's checks.
#
#   accept/hadoop/run.sh bin/hammr
#
# Without its tool a check reports that and counts as not run. Datadog's checks are not on PyPI:
# DATADOG_CHECKS names a directory with yarn/ and mapreduce/ of DataDog/integrations-core.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
hammr=$(realpath "${1:-bin/hammr}")
if ! python3 -m venv --help >/dev/null 2>&1 || ! python3 -m pip --version >/dev/null 2>&1; then
	echo "yarn-api-client, Datadog: not run: python3 with venv and pip is missing"
	exit 0
fi
dir=$(mktemp -d)
ui=
end() {
	[[ -z $ui ]] || kill "$ui" || true
	"$hammr" down --dir "$dir/cluster" >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap end EXIT

python3 -m venv "$dir/venv"
pip() { "$dir/venv/bin/python" -m pip install -q --disable-pip-version-check "$@"; }
if ! pip yarn-api-client==1.0.3; then
	echo "yarn-api-client, Datadog: not run: PyPI does not answer"
	exit 0
fi
python=$dir/venv/bin/python

"$hammr" up --dir "$dir/cluster" --masters 3 --tasknodes 2 --pools nightly --detach >"$dir/masters"
export HAMMR_MASTER HAMMR_TOKEN_FILE=$dir/cluster/token
HAMMR_MASTER=$(paste -sd, "$dir/masters")
token=$(cat "$HAMMR_TOKEN_FILE")
page=http://$("$hammr" master status --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["masters"][0]["http"])')
"$hammr" ui --http 127.0.0.1:0 --yarn-scheduler capacity >"$dir/ui" 2>"$dir/ui.log" &
ui=$!
until [[ -s $dir/ui ]]; do sleep 0.1; done
capacity=$(cat "$dir/ui")

seq 1 20000 >"$dir/input"
"$hammr" run wordcount -D mapreduce.job.reduces=2 "$dir/input" "$dir/output" 2>/dev/null
over=$("$hammr" job list --all --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)[0]["jobId"])')
submit() { "$hammr" submit sleep -m 2 -r 1 -mt 600000 -rt 1000 2>/dev/null; }

for url in "$page" "$capacity"; do
	running=$(submit)
	"$hammr" job history "$over" --json | "$python" "$here/yarn_client.py" "$url" "$token" "$over" "$running"
done

if [[ -z ${DATADOG_CHECKS:-} ]]; then
	echo "Datadog: not run: DATADOG_CHECKS names no directory with its checks"
	exit 0
fi
pip datadog-checks-base==38.7.0 six simplejson lazy_loader cachetools prometheus_client pydantic jellyfish \
	requests-unixsocket2 wrapt python-dateutil tenacity cryptography binary orjson requests-toolbelt
submit >/dev/null
sleep 3
for url in "$page" "$capacity"; do
	"$python" "$here/datadog.py" "$DATADOG_CHECKS" "$url" "$token"
done
