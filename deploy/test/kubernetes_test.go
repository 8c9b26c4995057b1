//go:build deploy

package deploytest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// masterPods are the pods of the masters of a release.
func masterPods(release string) []string {
	return []string{release + "-jobmaster-0", release + "-jobmaster-1", release + "-jobmaster-2"}
}

// TestKubernetes gives the manifests and the chart to a Kubernetes without kubelets: the API server,
// its controllers and its scheduler are real, what containers do is not tested.
func TestKubernetes(t *testing.T) {
	helm := newHelm(t)
	k := startKubernetes(t, buildKubernetes(t, "kube-apiserver", "etcd", "kubectl", "kube-controller-manager", "kube-scheduler", "kwok"))
	t.Setenv("KUBECONFIG", k.config())
	t.Setenv("HOME", k.work) // Helm's caches
	for _, part := range []struct {
		name, namespace string
		run             func(t *testing.T)
	}{
		{"Accepted", namespace, k.testAccepted},
		{"Scheduled", namespace, k.testScheduled},
		{"Scaled", namespace, k.testScaled},
		{"Evicted", namespace, k.testEvicted},
		{"Drained", namespace, k.testDrained},
		{"Deleted", namespace, k.testDeleted},
		{"Release", releaseNamespace, func(t *testing.T) { k.testRelease(t, helm) }},
		{"Single", singleNamespace, func(t *testing.T) { k.testSingle(t, helm) }},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			defer func() { k.explain(t, part.namespace) }()
			part.run(t)
		}) {
			return // the next ones begin where this one ends
		}
	}
}

// untilReady waits until the pods of a release are ready, and no other ones are there, and until
// Kubernetes counts those of the masters as available, which it does after minReadySeconds. An update
// deletes all pods at once that are not available.
func (k *kubernetes) untilReady(t *testing.T, namespace, release string, tasknodes int) (pods map[string]node) {
	t.Helper()
	want := masterPods(release)
	for i := range tasknodes {
		want = append(want, fmt.Sprintf("%s-tasknode-%d", release, i))
	}
	k.until(t, fmt.Sprintf("%v are ready", want), func() bool {
		pods = make(map[string]node)
		for _, pod := range k.list(t, "pods", "--namespace="+namespace) {
			if !ready(pod) {
				return false
			}
			pods[name(pod)] = pod
		}
		for _, name := range want {
			if pods[name] == nil {
				return false
			}
		}
		masters := k.list(t, "statefulsets", "--namespace="+namespace, "--field-selector=metadata.name="+release+"-jobmaster")
		return len(pods) == len(want) && len(masters) == 1 && fmt.Sprint(masters[0].at("status", "availableReplicas")) == fmt.Sprint(len(masterPods(release)))
	})
	return pods
}

// untilEvictable waits until the controller of disruptions allows one eviction for each part.
func (k *kubernetes) untilEvictable(t *testing.T, namespace string) {
	t.Helper()
	k.until(t, "a pod of each part may be evicted", func() bool {
		return count(k.list(t, "pdb", "--namespace="+namespace), func(budget node) bool {
			return fmt.Sprint(budget.at("status", "disruptionsAllowed")) == "1"
		}) == 2
	})
}

// nodesOf returns the nodes of the pods of a part.
func nodesOf(pods map[string]node, part string) (nodes []string) {
	for _, pod := range pods {
		if partOf(pod) == part {
			nodes = append(nodes, fmt.Sprint(pod.at("spec", "nodeName")))
		}
	}
	slices.Sort(nodes)
	return nodes
}

// testScheduled checks where pods are, their volumes, and the names that they get.
func (k *kubernetes) testScheduled(t *testing.T) {
	k.until(t, "the pod of the example's Job is ready", func() bool {
		return count(k.list(t, in("pods", "--selector=job-name=wordcount")...), ready) == 1
	})
	k.do(t, in("delete", "job", "wordcount", "--wait")...)
	pods := k.untilReady(t, namespace, "hammr", 3)
	for _, part := range []string{"jobmaster", "tasknode"} {
		if nodes := nodesOf(pods, part); len(slices.Compact(nodes)) != 3 {
			t.Errorf("each %s needs a node of its own: %v", part, nodes)
		}
	}
	for _, claim := range k.list(t, in("pvc")...) {
		if claim.at("status", "phase") != "Bound" {
			t.Errorf("claim %s is %v", name(claim), claim.at("status"))
		}
	}
	for _, service := range []string{"hammr-jobmaster", "hammr-tasknode"} {
		want := []string{service + "-0", service + "-1", service + "-2"}
		k.until(t, fmt.Sprintf("the names of %s are %v", service, want), func() bool {
			var names []string
			for _, slice := range k.list(t, in("endpointslices", "--selector=kubernetes.io/service-name="+service)...) {
				endpoints, _ := slice.at("endpoints").([]any)
				for _, endpoint := range endpoints {
					names = append(names, fmt.Sprint(endpoint.(map[string]any)["hostname"]))
				}
			}
			slices.Sort(names)
			return slices.Equal(names, want)
		})
	}
	k.untilEvictable(t, namespace)
}

// testScaled adds and removes tasknodes. Those with the highest ordinals go, with time to drain.
func (k *kubernetes) testScaled(t *testing.T) {
	before := k.untilReady(t, namespace, "hammr", 3)
	k.do(t, in("scale", "statefulset/hammr-tasknode", "--replicas=7")...)
	k.untilReady(t, namespace, "hammr", 7)
	w := k.watch(t, namespace)
	k.do(t, in("scale", "statefulset/hammr-tasknode", "--replicas=2")...)
	after := k.untilReady(t, namespace, "hammr", 2)
	for pod := range after {
		if uid := []any{"metadata", "uid"}; before[pod].at(uid...) != after[pod].at(uid...) {
			t.Errorf("%s was replaced when tasknodes were scaled", pod)
		}
	}
	k.until(t, "the watch has seen the end of five pods", func() bool { return len(w.pods()) == len(after) })
	stopped := w.stopped("tasknode")
	slices.Sort(stopped)
	if want := []string{"hammr-tasknode-2", "hammr-tasknode-3", "hammr-tasknode-4", "hammr-tasknode-5", "hammr-tasknode-6"}; !slices.Equal(stopped, want) {
		t.Errorf("stopped are %v, want %v", stopped, want)
	}
	for _, event := range w.events() {
		if event.Object.at("metadata", "deletionTimestamp") == nil || event.Type == "DELETED" {
			continue
		}
		if seconds := fmt.Sprint(event.Object.at("metadata", "deletionGracePeriodSeconds")); seconds != "120" && seconds != "0" { // 0 says that it has stopped
			t.Errorf("%s gets %s s to stop, want 120", name(event.Object), seconds)
		}
		if hook := fmt.Sprint(event.Object.at("spec", "containers", 0, "lifecycle", "preStop", "exec", "command")); !strings.Contains(hook, "drain --local --deadline 100s") {
			t.Errorf("%s stops with the hook %s", name(event.Object), hook)
		}
	}
	k.do(t, in("scale", "statefulset/hammr-tasknode", "--replicas=3")...)
	k.untilReady(t, namespace, "hammr", 3)
}

// evict evicts a pod by the API, as drains of nodes do.
func (k *kubernetes) evict(namespace, pod string) error {
	body := fmt.Sprintf(`{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q, "namespace": %q}}`, pod, namespace)
	_, err := k.try(body, "create", "-f", "-", "--raw=/api/v1/namespaces/"+namespace+"/pods/"+pod+"/eviction")
	return err
}

// testEvicted evicts a pod of each part while no node takes new pods. Then no other pod may be evicted.
func (k *kubernetes) testEvicted(t *testing.T) {
	k.untilEvictable(t, namespace)
	k.do(t, append([]string{"cordon"}, nodeNames...)...)
	for _, part := range []string{"jobmaster", "tasknode"} {
		must.Do(t, k.evict(namespace, "hammr-"+part+"-1"))
		for _, other := range []string{"0", "2"} {
			if err := k.evict(namespace, "hammr-"+part+"-"+other); err == nil || !strings.Contains(err.Error(), "TooManyRequests") {
				t.Errorf("a second %s is evicted: %v", part, err)
			}
		}
	}
	k.do(t, append([]string{"uncordon"}, nodeNames...)...)
	k.untilReady(t, namespace, "hammr", 3)
	k.untilEvictable(t, namespace)
	for _, part := range []string{"jobmaster", "tasknode"} {
		must.Do(t, k.evict(namespace, "hammr-"+part+"-0"))
	}
	k.untilReady(t, namespace, "hammr", 3)
}

// testDrained drains two nodes with masters at the same time. Their pods are placed elsewhere, one of
// each part after the other.
func (k *kubernetes) testDrained(t *testing.T) {
	pods := k.untilReady(t, namespace, "hammr", 3)
	k.untilEvictable(t, namespace)
	drained := nodesOf(pods, "jobmaster")[:2]
	w := k.watch(t, namespace)
	ends := make(chan error, len(drained))
	for _, node := range drained {
		go func() {
			_, err := k.try("", "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=2m")
			ends <- err
		}()
	}
	for range drained {
		must.Do(t, <-ends)
	}
	pods = k.untilReady(t, namespace, "hammr", 3)
	for pod, state := range pods {
		if at := fmt.Sprint(state.at("spec", "nodeName")); slices.Contains(drained, at) {
			t.Errorf("%s is on %s, which was drained", pod, at)
		}
	}
	for _, part := range []string{"jobmaster", "tasknode"} {
		if most := w.away(part, 3); most > 1 {
			t.Errorf("%d pods of %s were away at the same time", most, part)
		}
	}
	if stopped := w.stopped("jobmaster"); len(stopped) != 2 {
		t.Errorf("stopped are %v, want 2 masters", stopped)
	}
	k.do(t, append([]string{"uncordon"}, drained...)...)
}

// testDeleted deletes the manifests. The logs of the masters stay, and what the manifests do not have.
func (k *kubernetes) testDeleted(t *testing.T) {
	k.do(t, "delete", "-f", rendered, "--wait")
	k.wantLeft(t, namespace, "Secret hammr-token", "PersistentVolumeClaim data-hammr-jobmaster-0", "PersistentVolumeClaim data-hammr-jobmaster-1", "PersistentVolumeClaim data-hammr-jobmaster-2")
	k.do(t, "delete", "-f", "../kubernetes/namespace.yaml", "--wait")
}

// wantLeft waits until a namespace has certain objects, beside those that every namespace has.
func (k *kubernetes) wantLeft(t *testing.T, namespace string, want ...string) {
	t.Helper()
	slices.Sort(want)
	kinds := strings.Fields(k.do(t, "api-resources", "--namespaced", "--verbs=list", "--output=name"))
	kinds = slices.DeleteFunc(kinds, func(kind string) bool {
		return strings.HasPrefix(kind, "events") || kind == "endpoints" // the API server warns of endpoints; it has their slices
	})
	var left []string
	k.until(t, "all objects have gone", func() bool {
		left = nil
		for _, object := range k.list(t, strings.Join(kinds, ","), "--namespace="+namespace) {
			if found := fmt.Sprint(object["kind"], " ", name(object)); found != "ConfigMap kube-root-ca.crt" && found != "ServiceAccount default" {
				left = append(left, found)
			}
		}
		slices.Sort(left)
		return len(left) <= len(want)
	})
	if !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v", left, want)
	}
}
