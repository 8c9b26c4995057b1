package raftlog

import (
	"bytes"
	"io"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestAnEntryThatPanicsIsRecoveredAsMastersApplyIt applies a log offline in which an entry panics. The state is that
// of a master that has applied the log, where the entry has cost its job, and nothing else.
func TestAnEntryThatPanicsIsRecoveredAsMastersApplyIt(t *testing.T) {
	snapshot, exit := damagedState(t)
	batch := []cluster.Entry{{At: 3, Command: exit}, {At: 4, Command: cluster.SetPriority{Job: exit.Attempt.Task.Job, Priority: 3}}, {At: 5, Command: cluster.SetPools{Names: []string{"a"}}}}
	data, err := cluster.EncodeEntries(batch)
	must.Do(t, err)
	master, err := decodeState(bytes.NewReader(snapshot), "1")
	must.Do(t, err)
	panics := 0
	for _, e := range batch {
		_, _ = master.ApplyContained(e, func(any) { panics++ })
	}
	if j := master.View().Job(exit.Attempt.Task.Job); panics != 1 || j.State != cluster.JobAborting {
		t.Fatalf("%d entries panic, the job is %v", panics, j.State)
	}
	offline := newOfflineFSM("1")
	must.Do(t, offline.Restore(io.NopCloser(bytes.NewReader(snapshot))))
	if offline.Apply(&raft.Log{Data: data}); offline.err != nil {
		t.Fatal(offline.err)
	}
	if !bytes.Equal(encodedState(t, offline.state), encodedState(t, master)) {
		t.Error("the recovered state differs from that of a master")
	}
}

// damagedState returns a snapshot in which an attempt is on a machine that does not exist, and the report of its exit,
// on which Apply panics.
func damagedState(t *testing.T) ([]byte, cluster.ExitAttempt) {
	t.Helper()
	s := cluster.NewAt("1", cluster.FirstVersion)
	for _, c := range []cluster.Command{
		cluster.JoinMachine{Name: "machine-x", Slots: cluster.Slots{1, 1}},
		cluster.SubmitJob{Spec: cluster.JobSpec{Graph: dag.MapReduce(1, 0), MaxAttempts: [2]int{1, 1}}},
	} {
		mustApply(t, s, c)
	}
	var job cluster.JobID
	for j := range s.View().Jobs() {
		job = j.ID
	}
	task := cluster.TaskID{Job: job, Stage: "m"}
	mustApply(t, s, cluster.StartJob{Job: job})
	mustApply(t, s, cluster.StartAttempt{Task: task, Machine: "machine-x"})
	good := encodedState(t, s)
	bad := bytes.Replace(good, []byte("machine-x"), []byte("machine-y"), 1) // the machine, not the attempt on it
	if bytes.Count(good, []byte("machine-x")) != 2 {
		t.Fatal("the snapshot does not name the machine and the attempt on it")
	}
	return bad, cluster.ExitAttempt{Attempt: cluster.AttemptID{Task: task}}
}

func mustApply(t *testing.T, s *cluster.State, c cluster.Command) {
	t.Helper()
	if _, err := s.Apply(cluster.Entry{At: 2, Command: c}); err != nil {
		t.Fatal(err)
	}
}

func encodedState(t *testing.T, s *cluster.State) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, s.Snapshot().Encode(&b))
	return b.Bytes()
}
