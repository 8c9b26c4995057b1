#!/usr/bin/env bash
# Lighthouse on eight pages of a simulated job with 100,000 tasks.
#
#   accept/lighthouse.sh
#
# It needs Chromium, and npx, which fetches Lighthouse into npm's cache unless LIGHTHOUSE names the
# program. Without them the check counts as not run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
read -r -a lighthouse <<<"${LIGHTHOUSE:-npx --yes lighthouse@13.5.0}"
CHROME_PATH=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
export CHROME_PATH
if [[ -z $CHROME_PATH ]]; then
	echo "lighthouse: not run: Chromium is missing (apt-get install chromium)"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! (cd "$dir" && timeout 300 "${lighthouse[@]}" --version >/dev/null 2>"$dir/npm.log"); then
	echo "lighthouse: not run: npx with Node 22 or later, or npm's registry, is missing or does not answer"
	exit 0
fi

go test -C "$here/.." -tags accept -c -o "$dir/pages" ./internal/daemon/local
mkfifo "$dir/stop"
TASKS=${TASKS:-100000} "$dir/pages" -test.run '^TestPagesForLighthouse$' -test.timeout 0 <"$dir/stop" >"$dir/ui" 2>"$dir/ui.log" &
exec 3>"$dir/stop" # the pages end when it is closed
until [[ -s $dir/ui ]]; do sleep 0.1; done
root=$(cat "$dir/ui")
job=job_sim_0001
until curl -sf "$root/api/v1/jobs/$job" | grep -q '"SUCCEEDED"'; do sleep 1; done
first=$(curl -sf "$root/api/v1/jobs/$job/tasks?limit=1" | grep -o 'task_sim_[a-z0-9_]*' | head -1)

export LANG=C.UTF-8
for path in / /jobs "/jobs/$job" "/jobs/$job/tasks?sort=-duration" "/jobs/$job/timeline" "/jobs/$job/skew" "/jobs/$job/tasks/$first" /nodes; do
	name=$(tr -c 'a-zA-Z0-9' _ <<<"$path")
	"${lighthouse[@]}" "$root$path" --quiet --preset=desktop --output=json --output-path="$dir/$name.json" \
		--only-categories=performance,accessibility,best-practices --chrome-flags='--headless=new --no-sandbox --disable-gpu --disable-quic' >/dev/null
	python3 "$here/lighthouse.py" "$path" "$dir/$name.json" || touch "$dir/failed"
done
[[ ! -e $dir/failed ]]
