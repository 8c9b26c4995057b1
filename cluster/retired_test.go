package cluster

import (
	"slices"
	"strings"
	"testing"
)

// retire submits and retires jobs.
func retire(t testing.TB, s *State, jobs int) {
	t.Helper()
	for range jobs {
		id := JobID{s.ID, s.Submitted + 1}
		mustApply(t, s, submit(1, 0), KillJob{id, "x"}, CloseJob{id}, RetireJob{id})
	}
}

// TestRetiredJobsLeaveNothingBehind requires the same memory and snapshots after 1,000
// retired jobs as after 100,000.
func TestRetiredJobsLeaveNothingBehind(t *testing.T) {
	s := New("1")
	mustApply(t, s, submit(1, 0))
	var sizes []int
	for _, more := range []int{66_000, 34_000} { // numbers of three bytes in CBOR each time
		retire(t, s, more)
		sizes = append(sizes, len(encoded(t, s)))
		if live := slices.Collect(s.View().Jobs()); len(live) != 1 || live[0].ID != job1 || cap(s.jobs) > 16 {
			t.Fatalf("%d jobs are left, in a list of %d", len(live), cap(s.jobs))
		}
	}
	if sizes[0] != sizes[1] {
		t.Errorf("snapshots have %v bytes", sizes)
	}
	twin := restored(t, encoded(t, s))
	if delta, err := twin.Apply(Entry{Command: submit(1, 0)}); err != nil || delta.Submitted.Number != 100_002 {
		t.Errorf("the next job is %v, %v", delta.Submitted, err)
	}
	if v := twin.View(); !v.Retired(JobID{"1", 2}) || !v.Retired(JobID{"1", 100_001}) || v.Retired(JobID{"1", 100_003}) {
		t.Error("retired jobs are confused with unknown ones")
	}
}

func TestArchivedJobs(t *testing.T) {
	s := livedState(t, 50)
	if _, err := s.Apply(Entry{Command: ArchiveJob{job1, []byte("summary")}}); err == nil {
		t.Error("a running job was archived")
	}
	mustApply(t, s, KillJob{job1, strings.Repeat("x", 5000)})
	for m := s.View().Machine("n"); len(m.Attempts) > 0; {
		mustApply(t, s, ExitAttempt{Attempt: m.Attempts[0].ID})
	}
	mustApply(t, s, CloseJob{job1})
	full := len(encoded(t, s))
	if _, err := s.Apply(Entry{Command: ArchiveJob{job1, make([]byte, maxSummary+1)}}); err == nil {
		t.Error("a summary of any size is accepted")
	}
	delta, err := s.Apply(Entry{Command: ArchiveJob{job1, []byte("summary")}})
	if err != nil || !slices.Equal(delta.Archived, []JobID{job1}) {
		t.Fatalf("%+v, %v", delta, err)
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
	if small := len(encoded(t, s)); small > 1500 || full < 7000 {
		t.Errorf("the snapshot has %d bytes, %d before", small, full)
	}
	twin := restored(t, encoded(t, s))
	if j := twin.View().Job(job1); dump(twin) != dump(s) || !j.Archived || string(j.Summary) != "summary" || j.Spec.Document != nil || j.State != JobKilled {
		t.Errorf("restored as %+v", j)
	}
	if j := twin.View().Job(job1); len(j.Cause) != maxArchivedCause {
		t.Errorf("the cause has %d bytes", len(j.Cause))
	}
	if _, err := s.Apply(Entry{Command: ArchiveJob{job1, nil}}); err == nil {
		t.Error("a job was archived twice")
	}
	mustApply(t, s, RetireJob{job1})
}

// BenchmarkSnapshotAfterRetirement takes, encodes and restores a snapshot of 100 live jobs.
// The retired jobs must not matter.
func BenchmarkSnapshotAfterRetirement(b *testing.B) {
	for _, retired := range []int{0, 1_000_000} {
		b.Run(map[int]string{0: "retired=0", 1_000_000: "retired=1000000"}[retired], func(b *testing.B) {
			s := New("1")
			retire(b, s, retired)
			for range 100 {
				mustApply(b, s, submit(10, 1))
			}
			for b.Loop() {
				restored(b, encoded(b, s))
			}
			b.ReportMetric(float64(len(encoded(b, s))), "snapshot-bytes")
		})
	}
}
