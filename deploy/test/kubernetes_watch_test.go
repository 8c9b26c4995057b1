//go:build deploy

package deploytest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// podWatch collects every state of the pods of a namespace, in order.
type podWatch struct {
	mu struct {
		sync.Mutex
		events []podEvent
	}
}

// podEvent is a state of a pod.
type podEvent struct {
	Type   string // ADDED, MODIFIED or DELETED
	Object node
}

// watch watches the pods of a namespace until the test ends. It returns when it has seen all that are
// there.
func (k *kubernetes) watch(t *testing.T, namespace string) *podWatch {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := k.command(ctx, "get", "pods", "--namespace="+namespace, "--watch", "--output-watch-events", "--output=json")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, k.starter.Start(cmd.Start))
	w, ended := new(podWatch), make(chan struct{})
	go func() {
		defer close(ended)
		for decoder := json.NewDecoder(out); ; {
			var event podEvent
			if decoder.Decode(&event) != nil { // the test ends
				_ = cmd.Wait()
				return
			}
			w.mu.Lock()
			w.mu.events = append(w.mu.events, event)
			w.mu.Unlock()
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	pods := k.list(t, "pods", "--namespace="+namespace)
	k.until(t, "the watch has begun", func() bool { return len(w.pods()) >= len(pods) })
	return w
}

// events returns what has been seen.
func (w *podWatch) events() []podEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.events[:len(w.mu.events):len(w.mu.events)]
}

// pods returns the last state of each pod that has not been deleted.
func (w *podWatch) pods() map[string]node {
	pods := make(map[string]node)
	for _, event := range w.events() {
		event.apply(pods)
	}
	return pods
}

func (e podEvent) apply(pods map[string]node) {
	if e.Type == "DELETED" {
		delete(pods, name(e.Object))
		return
	}
	pods[name(e.Object)] = e.Object
}

// stopped returns the names of the pods of a part in the order in which their end began.
func (w *podWatch) stopped(part string) (names []string) {
	seen := make(map[string]bool)
	for _, event := range w.events() {
		uid := fmt.Sprint(event.Object.at("metadata", "uid"))
		if event.Object.at("metadata", "deletionTimestamp") != nil && partOf(event.Object) == part && !seen[uid] {
			seen[uid] = true
			names = append(names, name(event.Object))
		}
	}
	return names
}

// away returns the largest number of pods of a part that were not ready at the same time. All of them
// are ready when the watch begins.
func (w *podWatch) away(part string, replicas int) (most int) {
	pods, begun := make(map[string]node), false
	for _, event := range w.events() {
		event.apply(pods)
		is := 0
		for pod := range maps.Values(pods) {
			if partOf(pod) == part && ready(pod) {
				is++
			}
		}
		begun = begun || is == replicas
		if begun {
			most = max(most, replicas-is)
		}
	}
	return most
}

// partOf returns jobmaster or tasknode for a pod of the chart.
func partOf(pod node) string {
	return fmt.Sprint(pod.at("metadata", "labels", "app.kubernetes.io/component"))
}
