// Package deploytest tests what lies in deploy: manifests, the chart and the image. Tests with the
// build tag deploy need tools that are not everywhere; `make deploy-test` runs them.
package deploytest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hammr/hammr/internal/testing/must"
)

// rendered is the file that `make manifests` writes.
const rendered = "../kubernetes/hammr.yaml"

// TestManifestsAreRendered checks without Helm that hammr.yaml was rendered from the chart and the
// values as they are now, and was not changed by hand. TestChart renders it again.
func TestManifestsAreRendered(t *testing.T) {
	text, err := os.ReadFile(rendered)
	must.Do(t, err)
	lines := bytes.SplitAfterN(text, []byte("\n"), 4)
	if len(lines) < 4 {
		t.Fatalf("%s has no header; run make manifests", rendered)
	}
	for i, want := range []string{"# source sha256:" + digestOfSource(t), "# below sha256:" + digest(lines[3])} {
		if got := strings.TrimSpace(string(lines[i+1])); got != want {
			t.Errorf("line %d is %q, want %q: run make manifests", i+2, got, want)
		}
	}
}

// digestOfSource returns the digest of the chart and the values, as render.sh calculates it.
func digestOfSource(t *testing.T) string {
	t.Helper()
	files := []string{"kubernetes/values.yaml"}
	err := fs.WalkDir(os.DirFS(".."), "helm/hammr", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	must.Do(t, err)
	slices.Sort(files)
	var list bytes.Buffer
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join("..", file))
		must.Do(t, err)
		fmt.Fprintf(&list, "%s  %s\n", digest(text), file)
	}
	return digest(list.Bytes())
}

func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// node is a part of a YAML document.
type node map[string]any

// at follows a path of keys; a number chooses an element of a list. It returns nil if there is none.
func (n node) at(path ...any) any {
	var value any = n
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := value.(node)
			if object == nil {
				m, _ := value.(map[string]any)
				object = m
			}
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// documents returns the objects of a file by kind and name.
func documents(t *testing.T, text []byte) map[string]node {
	t.Helper()
	objects := make(map[string]node)
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object node
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		must.Do(t, err)
		if object != nil {
			objects[fmt.Sprint(object["kind"], " ", object.at("metadata", "name"))] = object
		}
	}
}

// TestPodsAreConfined checks the pods of all manifests by the Pod Security Standard "restricted", and
// the rules of the project beyond it.
func TestPodsAreConfined(t *testing.T) {
	pods := 0
	for _, file := range []string{rendered, "../kubernetes/wordcount.yaml"} {
		text, err := os.ReadFile(file)
		must.Do(t, err)
		for name, object := range documents(t, text) {
			if object.at("spec", "template") == nil {
				continue
			}
			pods++
			for _, c := range []struct {
				path []any
				want string
			}{
				{[]any{"securityContext", "runAsNonRoot"}, "true"},
				{[]any{"securityContext", "runAsUser"}, "65532"},
				{[]any{"securityContext", "seccompProfile", "type"}, "RuntimeDefault"},
				{[]any{"automountServiceAccountToken"}, "false"},
				{[]any{"enableServiceLinks"}, "false"},
				{[]any{"hostNetwork"}, "<nil>"},
				{[]any{"containers", 1}, "<nil>"}, // the checks below are of the only container
				{[]any{"containers", 0, "securityContext", "allowPrivilegeEscalation"}, "false"},
				{[]any{"containers", 0, "securityContext", "readOnlyRootFilesystem"}, "true"},
				{[]any{"containers", 0, "securityContext", "capabilities", "drop"}, "[ALL]"},
			} {
				if got := fmt.Sprint(object.at(append([]any{"spec", "template", "spec"}, c.path...)...)); got != c.want {
					t.Errorf("%s: %v is %s, want %s", name, c.path, got, c.want)
				}
			}
		}
	}
	if pods != 3 {
		t.Errorf("%d pods in the manifests, want 3", pods)
	}
}

// TestManifests checks what keeps a cluster available.
func TestManifests(t *testing.T) {
	text, err := os.ReadFile(rendered)
	must.Do(t, err)
	objects := documents(t, text)
	pod, container := []any{"spec", "template", "spec"}, []any{"spec", "template", "spec", "containers", 0}
	for _, c := range []struct {
		object string
		path   []any
		want   string
	}{
		{"StatefulSet hammr-jobmaster", []any{"spec", "replicas"}, "3"},
		{"StatefulSet hammr-jobmaster", []any{"spec", "podManagementPolicy"}, "Parallel"},
		{"StatefulSet hammr-jobmaster", []any{"spec", "volumeClaimTemplates", 0, "metadata", "name"}, "data"},
		{"StatefulSet hammr-jobmaster", append(slices.Clone(pod), "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", 0, "topologyKey"), "kubernetes.io/hostname"},
		{"StatefulSet hammr-jobmaster", append(slices.Clone(container), "livenessProbe", "httpGet", "path"), "/health"},
		{"StatefulSet hammr-jobmaster", append(slices.Clone(container), "readinessProbe", "httpGet", "path"), "/ready"},
		{"StatefulSet hammr-tasknode", append(slices.Clone(container), "livenessProbe", "httpGet", "path"), "/health"},
		{"StatefulSet hammr-tasknode", append(slices.Clone(container), "readinessProbe", "httpGet", "path"), "/ready"},
		{"StatefulSet hammr-tasknode", append(slices.Clone(pod), "terminationGracePeriodSeconds"), "120"},
		{"StatefulSet hammr-tasknode", append(slices.Clone(container), "lifecycle", "preStop", "exec", "command"), "[/hammr node drain --local --deadline 100s --timeout 10s]"},
		{"PodDisruptionBudget hammr-jobmaster", []any{"spec", "maxUnavailable"}, "1"},
		{"PodDisruptionBudget hammr-tasknode", []any{"spec", "maxUnavailable"}, "1"},
		{"Service hammr-jobmaster", []any{"spec", "clusterIP"}, "None"},
		{"Service hammr-jobmaster", []any{"spec", "publishNotReadyAddresses"}, "true"},
		{"Service hammr-tasknode", []any{"spec", "publishNotReadyAddresses"}, "true"},
		{"ServiceAccount hammr", []any{"automountServiceAccountToken"}, "false"},
		{"NetworkPolicy hammr-jobmaster", []any{"spec", "ingress", 0, "ports", 0, "port"}, "7070"},
		{"NetworkPolicy hammr-jobmaster", []any{"spec", "ingress", 1}, "<nil>"}, // from nowhere else
		{"NetworkPolicy hammr-tasknode", []any{"spec", "ingress", 0, "ports", 0, "port"}, "7071"},
		{"NetworkPolicy hammr-tasknode", []any{"spec", "ingress", 1}, "<nil>"},
	} {
		if got := fmt.Sprint(objects[c.object].at(c.path...)); got != c.want {
			t.Errorf("%s: %v is %s, want %s", c.object, c.path, got, c.want)
		}
	}
	// kubectl applies them to the namespace that the masters' names have, whatever its own default is.
	for name, object := range objects {
		if got := object.at("metadata", "namespace"); got != "hammr" {
			t.Errorf("%s: namespace is %v, want hammr", name, got)
		}
	}
	// A pod has its volume, not the file system of the image, where it writes.
	for _, name := range []string{"StatefulSet hammr-jobmaster", "StatefulSet hammr-tasknode"} {
		if mounts := fmt.Sprint(objects[name].at(append(slices.Clone(container), "volumeMounts")...)); !strings.Contains(mounts, "/var/lib/hammr") || !strings.Contains(mounts, "/tmp") {
			t.Errorf("%s: mounts are %s", name, mounts)
		}
	}
}
