//go:build deploy

package deploytest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// namespace is that of deploy/kubernetes.
const namespace = "hammr"

// in adds the namespace of the manifests to arguments of kubectl.
func in(args ...string) []string { return append(args, "--namespace="+namespace) }

// TestKubernetesAPI gives the manifests to an API server without controllers: it accepts all objects,
// and the pods that their templates describe.
func TestKubernetesAPI(t *testing.T) {
	k, _ := startAPI(t, buildKubernetes(t, "kube-apiserver", "etcd", "kubectl"))
	k.testAccepted(t)
	k.do(t, in("create", "serviceaccount", "default")...) // as a controller does
	for _, file := range []string{rendered, "../kubernetes/wordcount.yaml"} {
		text, err := os.ReadFile(file)
		must.Do(t, err)
		for object, manifest := range documents(t, text) {
			if manifest.at("spec", "template") == nil {
				continue
			}
			pod := podOf(t, manifest)
			if _, err := k.try(pod, in("create", "-f", "-")...); err != nil {
				t.Errorf("a pod of %s: %v", object, err)
			}
			rootful := strings.Replace(pod, `"runAsNonRoot":true`, `"runAsNonRoot":false`, 1)
			if _, err := k.try(rootful, in("create", "-f", "-", "--dry-run=server")...); err == nil || !strings.Contains(err.Error(), "violates PodSecurity") {
				t.Errorf("a pod of %s that may run as root is not refused: %v", object, err)
			}
		}
	}
}

// podOf returns a pod as the controller of a StatefulSet or a Job makes it, with a volume in place of a
// claim.
func podOf(t *testing.T, manifest node) string {
	t.Helper()
	spec, _ := manifest.at("spec", "template", "spec").(map[string]any)
	volumes, _ := spec["volumes"].([]any)
	if manifest.at("spec", "volumeClaimTemplates") != nil {
		volumes = append(volumes, map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": "data-" + name(manifest) + "-0"}})
	}
	spec["volumes"] = volumes
	pod, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod", "spec": spec,
		"metadata": map[string]any{"name": name(manifest) + "-test", "labels": manifest.at("spec", "template", "metadata", "labels")},
	})
	must.Do(t, err)
	return string(pod)
}

// testAccepted creates all objects of deploy/kubernetes, in their namespace. A warning of the API server
// is an error.
func (k *kubernetes) testAccepted(t *testing.T) {
	k.do(t, "apply", "-f", "../kubernetes/namespace.yaml")
	k.do(t, "label", "namespace", namespace, "pod-security.kubernetes.io/warn=restricted")
	k.do(t, in("create", "secret", "generic", "hammr-token", "--from-literal=token=secret-of-the-cluster")...)
	for _, file := range []string{rendered, "../kubernetes/wordcount.yaml"} {
		k.do(t, "apply", "--dry-run=server", "-f", file)
		k.do(t, "apply", "-f", file)
		text, err := os.ReadFile(file)
		must.Do(t, err)
		for object := range documents(t, text) {
			kind, name, _ := strings.Cut(object, " ")
			k.do(t, in("get", kind, name)...)
		}
	}
}
