//go:build deploy

package deploytest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// Namespaces of the releases that Helm installs.
const (
	releaseNamespace = "batch"
	singleNamespace  = "single"
)

// helmCommand runs Helm, as newHelm returns it.
type helmCommand = func(args ...string) (stdout []byte, problem string)

// makeNamespace makes a namespace as deploy/kubernetes/namespace.yaml does.
func (k *kubernetes) makeNamespace(t *testing.T, name string) {
	t.Helper()
	k.do(t, "create", "namespace", name)
	k.do(t, "label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted", "pod-security.kubernetes.io/warn=restricted")
}

// release is a release of the chart with three masters and four tasknodes, as Helm has installed it.
type release struct {
	*kubernetes
	helm helmCommand
}

// Names of the objects of the release begin with objects, since its name does not contain that of the chart.
const (
	objects   = "batch-hammr"
	tasknodes = 4
)

// do runs Helm for the release. It must succeed.
func (r release) do(t *testing.T, args ...string) {
	t.Helper()
	if _, problem := r.helm(append(args, "--namespace="+releaseNamespace)...); problem != "" {
		t.Fatalf("helm %q: %s", args, problem)
	}
}

// upgrade changes a value of the release.
func (r release) upgrade(t *testing.T, value string, flags ...string) {
	t.Helper()
	r.do(t, append([]string{"upgrade", "batch", "../helm/hammr", "--reuse-values", "--set=" + value}, flags...)...)
}

// testRelease takes a release of the chart through its life.
func (k *kubernetes) testRelease(t *testing.T, helm helmCommand) {
	k.makeNamespace(t, releaseNamespace)
	r := release{k, helm}
	r.do(t, "install", "batch", "../helm/hammr", "--wait", "--set", "clusterID=1764192000000,staging=hdfs://namenode:8020/staging,image.tag=v1,"+
		"tasknode.replicas=4,tasknode.storage.size=10Gi,token.value=0123456789abcdef,hadoop.user=hammr,"+
		"networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring")
	k.untilReady(t, releaseNamespace, objects, tasknodes)
	for _, part := range []struct {
		name string
		run  func(t *testing.T)
	}{{"Rolled", r.testRolled}, {"MissingImage", r.testMissingImage}, {"Settings", r.testSettings}, {"Unready", r.testUnready}} {
		t.Run(part.name, part.run)
	}
	r.do(t, "uninstall", "batch", "--wait")
	var want []string
	for i := range tasknodes {
		want = append(want, fmt.Sprintf("PersistentVolumeClaim data-%s-tasknode-%d", objects, i))
	}
	for _, pod := range masterPods(objects) {
		want = append(want, "PersistentVolumeClaim data-"+pod)
	}
	k.wantLeft(t, releaseNamespace, want...)
	k.do(t, "delete", "namespace", releaseNamespace, "--wait")
}

// testRolled updates the image.
func (r release) testRolled(t *testing.T) {
	w := r.watch(t, releaseNamespace)
	r.upgrade(t, "image.tag=v2", "--wait")
	r.untilImage(t, w, "hammr:v2", 3+tasknodes)
	wantOrder(t, w, 3, tasknodes)
}

// testMissingImage updates to an image whose pods do not become ready. One pod of each part gets it, and
// a rollback restores the former image.
func (r release) testMissingImage(t *testing.T) {
	before := r.untilReady(t, releaseNamespace, objects, tasknodes)
	w := r.watch(t, releaseNamespace)
	r.upgrade(t, "image.tag=missing")
	r.untilImage(t, w, "hammr:missing", 2)
	r.do(t, "rollback", "batch", "--wait")
	after := r.untilReady(t, releaseNamespace, objects, tasknodes)
	r.untilImage(t, w, "hammr:v2", 3+tasknodes)
	for part, replicas := range map[string]int{"jobmaster": 3, "tasknode": tasknodes} {
		if most := w.away(part, replicas); most != 1 {
			t.Errorf("%d pods of %s were away at the same time, want 1", most, part)
		}
		for i := range replicas - 1 {
			if pod := fmt.Sprintf("%s-%s-%d", objects, part, i); before[pod].at("metadata", "uid") != after[pod].at("metadata", "uid") {
				t.Errorf("%s was replaced, although the pod before it had not become ready", pod)
			}
		}
	}
}

// testSettings changes a setting of the masters. The tasknodes continue.
func (r release) testSettings(t *testing.T) {
	w := r.watch(t, releaseNamespace)
	r.upgrade(t, "jobmaster.join=true", "--wait")
	r.until(t, "three masters were replaced", func() bool { return len(w.stopped("jobmaster")) == 3 && len(w.pods()) == 3+tasknodes })
	wantOrder(t, w, 3, 0)
}

// testUnready updates the image while a master is not ready. Since the other two are a majority, they
// must not be replaced. Kubernetes replaces the first one by a pod with the old image, and that one too
// before it is ready, until a rollback.
func (r release) testUnready(t *testing.T) {
	r.untilReady(t, releaseNamespace, objects, tasknodes)
	w := r.watch(t, releaseNamespace)
	pod := masterPods(objects)[0]
	r.kubernetes.do(t, "annotate", "pod", pod, "--namespace="+releaseNamespace, "test/unready=true")
	r.kubernetes.do(t, "patch", "pod", pod, "--namespace="+releaseNamespace, "--subresource=status", `--patch={"status": {"conditions": [{"type": "Ready", "status": "False"}]}}`)
	r.until(t, pod+" is not ready", func() bool { return !ready(w.pods()[pod]) })
	r.upgrade(t, "image.tag=v3")
	r.until(t, pod+" was replaced twice", func() bool { return len(w.stopped("jobmaster")) >= 2 })
	r.do(t, "rollback", "batch", "--wait")
	r.untilReady(t, releaseNamespace, objects, tasknodes)
	r.untilImage(t, w, "hammr:v2", 3+tasknodes)
	stopped := w.stopped("jobmaster")
	if most := w.away("jobmaster", 3); most != 1 || slices.ContainsFunc(stopped, func(name string) bool { return name != pod }) {
		t.Errorf("%d masters were away at the same time, want 1; stopped are %v, want only %s", most, stopped, pod)
	}
	w = r.watch(t, releaseNamespace)
	r.upgrade(t, "image.tag=v3", "--wait")
	r.untilImage(t, w, "hammr:v3", 3+tasknodes)
	wantOrder(t, w, 3, tasknodes)
}

// untilImage waits until a watch has seen so many pods at once with an image, and all others ready.
func (k *kubernetes) untilImage(t *testing.T, w *podWatch, image string, want int) {
	t.Helper()
	k.until(t, fmt.Sprintf("%d pods have the image %s", want, image), func() bool {
		have := 0
		for _, pod := range w.pods() {
			switch {
			case pod.at("spec", "containers", 0, "image") == image && pod.at("status", "podIP") != nil:
				have++
			case !ready(pod):
				return false
			}
		}
		return have == want
	})
}

// wantOrder checks that the pods of each part were replaced one after the other, the highest ordinal
// first.
func wantOrder(t *testing.T, w *podWatch, masters, tasknodes int) {
	t.Helper()
	for part, replicas := range map[string]int{"jobmaster": masters, "tasknode": tasknodes} {
		var want []string
		for i := range replicas {
			want = append(want, fmt.Sprintf("%s-%s-%d", objects, part, replicas-1-i))
		}
		if got := w.stopped(part); !slices.Equal(got, want) {
			t.Errorf("stopped are %v, want %v", got, want)
		}
		if most := w.away(part, replicas); replicas > 0 && most != 1 {
			t.Errorf("%d pods of %s were away at the same time, want 1", most, part)
		}
	}
}

// testSingle installs a cluster with one master, whose node can be drained, with the longest names;
// and releases that are refused.
func (k *kubernetes) testSingle(t *testing.T, helm helmCommand) {
	k.makeNamespace(t, singleNamespace)
	install := func(release string, args ...string) string {
		_, problem := helm(append([]string{"install", release, "../helm/hammr", "--namespace=" + singleNamespace,
			"--set", "clusterID=1764192000001,staging=hdfs://namenode:8020/staging,token.value=0123456789abcdef,jobmaster.replicas=1,tasknode.replicas=1"}, args...)...)
		return problem
	}
	for _, name := range refusedNames {
		if problem := install(name); !strings.Contains(problem, "release's name") {
			t.Errorf("helm install %s: want an error about the release's name, not %q", name, problem)
		}
	}
	for value, want := range refusedValues {
		if problem := install("a", "--set", value); !strings.Contains(problem, want) {
			t.Errorf("helm install with %s: want an error about %q, not %q", value, want, problem)
		}
	}
	k.wantLeft(t, singleNamespace)
	release := strings.Repeat("hammr", 10) + "xyz" // 53 characters, as many as Helm takes
	if problem := install(release, "--wait"); problem != "" {
		t.Fatal(problem)
	}
	k.untilEvictable(t, singleNamespace)
	for _, pod := range k.list(t, "pods", "--namespace="+singleNamespace) {
		must.Do(t, k.evict(singleNamespace, name(pod)))
	}
	k.do(t, "delete", "namespace", singleNamespace, "--wait")
}
