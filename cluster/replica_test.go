package cluster

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
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

// mostLives limits the lives that TestReplicasAreEqual needs until each field has had a value.
const mostLives = 5000

// TestReplicasAreEqual lives random lives. After each, masters that have restarted from snapshots are in the same
// state as the one that has run all the time, in every field. Each field has a value in some life, so none is equal
// because nothing uses it.
func TestReplicasAreEqual(t *testing.T) {
	notZero, zero := make(map[string]bool), make(map[string]bool)
	fieldsBelow(reflect.TypeFor[State](), zero)
	replicate(usedCheckpoint(t), notZero).check(t)
	replicate(halfCheckpointedGang(t), notZero).check(t)
	lives := 0
	for seed := range testlevel.Seeds(mostLives, mostLives) {
		l := newLifetime(t, seed, notZero)
		if seed%4 == 0 {
			l.snapshotOneIn = testlevel.Choose(l.snapshotOneIn, 1)
		}
		l.replicateToEnd()
		if seed%10 == 0 {
			randomLife(seed, notZero).check(t)
		}
		maps.DeleteFunc(zero, func(field string, _ bool) bool { return notZero[field] })
		if lives++; lives >= testlevel.Choose(150, 3000) && len(zero) == 0 {
			return
		}
	}
	t.Errorf("fields that are zero in %d lives: extend the random lives, so that snapshots without them are found\n%q", lives, slices.Sorted(maps.Keys(zero)))
}

// usedCheckpoint returns a cluster with a checkpoint whose attempt may miss input.
func usedCheckpoint(t *testing.T) *State {
	s := New("1")
	apply(t, s, joinOf("a", "1"), joinOf("b", "1"), submit(1, 1), StartJob{job1}, StartAttempt{Task: mapTask(0), Machine: "a"})
	finish(t, s, mapTask(0), 0)
	start := StartAttempt{Task: firstReduce, Machine: "b"}
	apply(t, s, start, CheckpointAttempt{Attempt: attemptAt(firstReduce, 0)}, start)
	apply(t, s, ExpireMachine{Name: "a", Epoch: 1, Fetched: fetchedBy(attemptAt(firstReduce, 1))})
	return s
}

// halfCheckpointedGang returns a cluster with a gang that has a consistent checkpoint and writes the next one.
func halfCheckpointedGang(t *testing.T) *State {
	s, j := checkpointedGang(t)
	mustApply(t, s, bundleStart(j, 0, 0, "n0"))
	mustApply(t, s, PreemptAttempt{Attempt: newest(j, 1, 0), Mode: preempt.Checkpoint}, checkpointOf(j, 1))
	return s
}

// replicateToEnd lives a whole life and compares all replicas at its end.
func (l *lifetime) replicateToEnd() {
	l.live(2000)
	l.end()
	l.s.check(l.t)
}

// randomLife applies random commands, most of them valid, and takes a snapshot in the middle.
func randomLife(seed uint64, notZero map[string]bool) *replicated {
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
	}).Example(int(seed))
}
