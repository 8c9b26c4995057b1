package jobmaster_test

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// TestOnlyStagedFilesAreAccepted submits jobs whose splits or program lie elsewhere. The master
// would read and remove them with its own rights.
func TestOnlyStagedFilesAreAccepted(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		for want, change := range map[string]func(s *wire.JobSpec){
			`splits of the job in "mem:///precious"`:                        func(s *wire.JobSpec) { s.SplitsPath = "mem:///precious" },
			"clients stage them as":                                         func(s *wire.JobSpec) { s.SplitsPath = "mem:///staging/jobs/other-7/splits" },
			`"mem:///staging/jobs/client-1/../../precious"`:                 func(s *wire.JobSpec) { s.SplitsPath = "mem:///staging/jobs/client-1/../../precious" },
			`program of the job in "file:///etc/shadow"`:                    func(s *wire.JobSpec) { s.Binary, s.BinarySha256 = "file:///etc/shadow", make([]byte, 32) },
			"program with a SHA-256 of 3 bytes":                             func(s *wire.JobSpec) { s.Binary, s.BinarySha256 = "mem:///staging/artifacts/x", make([]byte, 3) },
			`program of the job in "mem:///staging/artifacts/` + "01" + `"`: func(s *wire.JobSpec) { s.Binary, s.BinarySha256 = "mem:///staging/artifacts/01", make([]byte, 32) },
			`client id "../x"`:                                              func(s *wire.JobSpec) { s.ClientId = "../x" },
		} {
			spec := w.staged(w.spec(1, 0))
			change(spec)
			if _, err := w.leader().Submit(w.ctx, spec); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	})
}

// TestImpossibleSplitsFailTheirJob stages splits with numbers that no file has.
func TestImpossibleSplitsFailTheirJob(t *testing.T) {
	for want, split := range map[string]*taskproc.Split{
		"split 0: part 0 begins at -1": {Parts: []*taskproc.Split_Part{{Start: -1, Length: 5}}},
		"too large":                    {Parts: []*taskproc.Split_Part{{Start: 1 << 62, Length: 1 << 62}}},
		"in file -3":                   {Parts: []*taskproc.Split_Part{{Ordinal: -3}}},
		"1001 hosts":                   {Hosts: make([]string, 1001)},
	} {
		withCluster(t, 1, func(w *testCluster) {
			w.elect(0)
			spec := w.staged(w.spec(1, 0))
			data, hash, err := taskproc.EncodeSplits([]*taskproc.Split{split})
			must.Do(t, err)
			name := strings.TrimPrefix(spec.SplitsPath, "mem://")
			must.Do(t, w.fs.Remove(w.ctx, name, false))
			f, err := w.fs.Create(w.ctx, name, storage.CreateOptions{})
			must.Do(t, err)
			_, err = f.Write(data)
			must.Do(t, storage.Finish(f, err))
			spec.SplitsHash = hash
			if s := w.wait(w.submitSpec(spec)); s.State != wire.JobState_FAILED || !strings.Contains(s.Cause, want) {
				t.Errorf("the job is %v: %s, want %q", s.State, s.Cause, want)
			}
		})
	}
}
