#!/bin/sh
# Renders hammr.yaml from the chart, with values.yaml beside this file: `make manifests`.
# The first lines name what it was rendered from, so that a test can refuse a difference without Helm.
#
# HELM  the command; helm if unset
set -eu
cd "$(dirname "$0")"

chart=../helm/hammr
helm=${HELM:-helm}
$helm lint --strict --quiet $chart --values values.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Without a cluster, a Helm that `go install` has built takes Kubernetes 1.20, which the chart refuses.
$helm template hammr $chart --namespace hammr --kube-version 1.27.0 --values values.yaml >"$work/body"
source=$( (cd .. && find helm/hammr kubernetes/values.yaml -type f | LC_ALL=C sort | xargs sha256sum) | sha256sum | cut -d' ' -f1)
{
	echo "# Rendered by \`make manifests\` from the chart in deploy/helm/hammr and values.yaml: change those."
	echo "# source sha256:$source"
	echo "# below sha256:$(sha256sum <"$work/body" | cut -d' ' -f1)"
	cat "$work/body"
} >"$work/hammr.yaml"
cp "$work/hammr.yaml" hammr.yaml
