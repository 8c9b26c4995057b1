//go:build deploy

package deploytest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// helmVersion is the version of Helm that `make manifests` uses too.
const helmVersion = "v3.22.0"

// oldest renders the chart for the oldest Kubernetes that it takes, as `make manifests` does. Helm's own
// default is older if `go install` has built it.
const oldest = "--kube-version=1.27.0"

// newHelm returns a function that runs Helm: the program that the variable HELM names, else one that
// is installed for the test.
func newHelm(t *testing.T) func(args ...string) (stdout []byte, problem string) {
	t.Helper()
	program := os.Getenv("HELM")
	if program == "" {
		dir := t.TempDir()
		install := exec.CommandContext(t.Context(), "go", "install", "helm.sh/helm/v3/cmd/helm@"+helmVersion)
		install.Env = append(os.Environ(), "GOBIN="+dir)
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("helm: %v\n%s", err, out)
		}
		program = filepath.Join(dir, "helm")
	}
	return func(args ...string) ([]byte, string) {
		var out, problems bytes.Buffer
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Stdout, cmd.Stderr = &out, &problems
		if err := cmd.Run(); err != nil {
			return nil, fmt.Sprintf("%v: %s%s", err, out.String(), problems.String())
		}
		return out.Bytes(), ""
	}
}

// refusedValues are values that the API server would refuse when a part of the objects is there, or that
// would mean something else than they say. The chart refuses them, and the error has the word.
var refusedValues = map[string]string{
	"tasknode.resources.limits.cpu=2cores":      "cpu",
	"jobmaster.resources.limits.memory=2GB":     "memory",
	"jobmaster.storage.size=":                   "size",
	"jobmaster.storage.size=large":              "size",
	"tasknode.storage.size=10GB":                "size",
	"tasknode.storage.emptyDirLimit=10GB":       "emptyDirLimit",
	"tasknode.nodeSelector.rack=1":              "rack",
	"tasknode.podAnnotations.rack=true":         "rack",
	"tasknode.tolerations[0].effekt=NoSchedule": "effekt",
	"jobmaster.env[0].value=x":                  "name",
}

// refusedNames are names of releases that Helm accepts and a Service does not.
var refusedNames = []string{"a.b", "1a"}

// TestChart renders the chart by Helm, with the values of the manifests and with others.
func TestChart(t *testing.T) {
	helm := newHelm(t)
	values := []string{"--values", "../kubernetes/values.yaml"}
	template := func(args ...string) ([]byte, string) {
		return helm(append([]string{"template", "hammr", "../helm/hammr", "--namespace", "hammr", oldest}, args...)...)
	}
	if _, problem := helm(append([]string{"lint", "--strict", "../helm/hammr"}, values...)...); problem != "" {
		t.Error(problem)
	}
	out, problem := template(values...)
	if problem != "" {
		t.Fatal(problem)
	}
	text, err := os.ReadFile(rendered)
	must.Do(t, err)
	if !bytes.HasSuffix(text, out) || bytes.Count(text, []byte("\n"))-bytes.Count(out, []byte("\n")) != 3 {
		t.Errorf("%s differs from the chart; run make manifests", rendered)
	}
	for _, c := range []struct {
		args string // of helm template, beside the values of the manifests
		want []string
	}{
		{"--set tasknode.resources.limits.cpu=2500m", []string{"map-slots: 3", "reduce-slots: 1"}},
		{"--set tasknode.resources.limits.cpu=8", []string{"map-slots: 8", "reduce-slots: 4"}},
		{"--set tasknode.mapSlots=0,tasknode.reduceSlots=7", []string{"map-slots: 0", "reduce-slots: 7"}},
		{"--set tasknode.storage.size=50Gi", []string{"storage: \"50Gi\""}},
		{"--set tasknode.drainSeconds=600", []string{"600s", "terminationGracePeriodSeconds: 620"}},
		{"--set jobmaster.replicas=5,jobmaster.join=true", []string{"join: true", "hammr-jobmaster-4=hammr-jobmaster-4.hammr-jobmaster.hammr.svc.cluster.local:7070"}},
		{"--set token.value=0123456789abcdef", []string{"kind: Secret", "token: \"0123456789abcdef\""}},
		{"--set shared.claim=disk,hadoop.configMap=site", []string{"claimName: \"disk\"", "mountPath: \"/shared\"", "value: /etc/hadoop"}},
		{"--set jobmaster.settings.policy=fair,jobmaster.settings.nice=-5", []string{"policy: fair", "nice: -5"}},
		{"--set networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring", []string{"name: monitoring", "7080"}},
		{"--set clusterID=1764192000000", []string{"cluster-id: \"1764192000000\""}},
	} {
		out, problem := template(append(values, strings.Fields(c.args)...)...)
		for _, want := range c.want {
			if !bytes.Contains(out, []byte(want)) {
				t.Errorf("%s: %q is not in the manifests. %s", c.args, want, problem)
			}
		}
	}
	if out, _ := template(append(values, "--set", "networkPolicy.enabled=false")...); bytes.Contains(out, []byte("NetworkPolicy")) {
		t.Error("a NetworkPolicy without networkPolicy.enabled")
	}
	for args, want := range map[string]string{
		"--set staging=hdfs://nn/s":                                      "clusterID is missing",
		"--set clusterID=1":                                              "staging is missing",
		"--set clusterID=x,staging=hdfs://nn/s":                          "clusterID",
		"--set clusterID=1,staging=/tmp":                                 "staging",
		"--set clusterID=1,staging=hdfs://nn/s,jobmaster.replicas=2":     "replicas",
		"--set clusterID=1,staging=hdfs://nn/s,token.value=short":        "token",
		"--set clusterID=1,staging=hdfs://nn/s,tasknode.slots=3":         "slots",
		"--set clusterID=1,staging=hdfs://nn/s,jobmaster.settings.Nice=": "Nice",
	} {
		if _, problem := template(strings.Fields(args)...); !strings.Contains(problem, want) {
			t.Errorf("%s: want an error about %q, not %q", args, want, problem)
		}
	}
}

// TestChartRefuses renders the chart with values and names that no cluster can have.
func TestChartRefuses(t *testing.T) {
	helm := newHelm(t)
	for value, want := range refusedValues {
		if _, problem := helm("template", "hammr", "../helm/hammr", oldest, "--values", "../kubernetes/values.yaml", "--set", value); !strings.Contains(problem, want) {
			t.Errorf("%s: want an error about %q, not %q", value, want, problem)
		}
	}
	for _, name := range refusedNames {
		if _, problem := helm("template", name, "../helm/hammr", oldest, "--values", "../kubernetes/values.yaml"); !strings.Contains(problem, "release's name") {
			t.Errorf("name %s: want an error about the release's name, not %q", name, problem)
		}
	}
}
