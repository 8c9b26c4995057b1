package cluster

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// replicated is a state with the log that led to it, and with the snapshots that were taken of it.
type replicated struct {
	*State
	notZero   map[string]bool // fields that had a value at a snapshot; nil takes no snapshots
	log       []Entry
	snapshots map[int][]byte // by the length of the log
}

func replicate(s *State, notZero map[string]bool) *replicated {
	return &replicated{State: s, notZero: notZero, snapshots: make(map[int][]byte)}
}

// apply writes an entry to the log and applies it.
func (r *replicated) apply(e Entry) (Delta, error) {
	r.log = append(r.log, e)
	return r.Apply(e)
}

// snapshot takes a snapshot of the present state, and compares what it restores.
func (r *replicated) snapshot(t rapid.TB) {
	t.Helper()
	if r.notZero != nil {
		r.snapshots[len(r.log)] = encoded(t, r.State)
		r.compare(t, len(r.log))
	}
}

// compare compares the state with a master that has restarted after some entries of the log.
func (r *replicated) compare(t rapid.TB, from int) {
	t.Helper()
	replica := restored(t, r.snapshots[from])
	for _, e := range r.log[from:] {
		_, _ = replica.Apply(e) // refused entries are in the log too
	}
	for _, s := range []*State{r.State, replica} {
		loadSplits(s)
		loadSplits(s) // the second call finds the hosts of all splits
	}
	if found := differences(r.State, replica, r.notZero); found != "" {
		t.Fatalf("a replica that has restarted after entry %d of %d:\n%s", from, len(r.log), found)
	}
}

// check compares the state with masters that have restarted from each of the snapshots.
func (r *replicated) check(t rapid.TB) {
	t.Helper()
	r.snapshot(t)
	for _, from := range slices.Sorted(maps.Keys(r.snapshots)) {
		r.compare(t, from)
	}
}

// replicaLives is the number of lives of jobs that TestReplicasAreEqual compares. So many are needed until each field
// has had a value.
const replicaLives = 1000

// TestReplicasAreEqual lives random lives. After each, masters that have restarted from snapshots are in the same
// state as the one that has run all the time, in every field. Each field has a value in some life, so none is equal
// because nothing uses it.
func TestReplicasAreEqual(t *testing.T) {
	notZero := make(map[string]bool)
	for seed := range replicaLives / 10 {
		randomLife(seed, notZero).check(t)
	}
	for seed := range replicaLives {
		newLifetime(t, uint64(seed), notZero).replicateToEnd()
	}
	fields := make(map[string]bool)
	fieldsBelow(reflect.TypeFor[State](), fields)
	for _, f := range slices.Sorted(maps.Keys(fields)) {
		if !notZero[f] {
			t.Errorf("%s is zero in every life: extend the random lives, so that snapshots without it are found", f)
		}
	}
}

// replicateToEnd lives a whole life and compares all replicas at its end.
func (l *lifetime) replicateToEnd() {
	l.live(2000)
	l.end()
	l.s.check(l.t)
}

// randomLife applies random commands, most of them valid, and takes a snapshot in the middle.
func randomLife(seed int, notZero map[string]bool) *replicated {
	return rapid.Custom(func(t *rapid.T) *replicated {
		r := replicate(New("a_b"), notZero)
		steps := rapid.IntRange(1, 120).Draw(t, "steps")
		middle := rapid.IntRange(0, steps).Draw(t, "steps before the snapshot")
		for step := range steps {
			if step == middle {
				r.snapshot(t)
			}
			_, _ = r.apply(drawEntry(t, r.State, step))
			loadSplits(r.State)
		}
		return r
	}).Example(seed)
}
