package jobmaster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// slowBlocks looks up locations slowly: on host a or b in turn, and some not at all.
type slowBlocks struct {
	storage.FS
	takes   time.Duration
	unknown func(file int) bool
}

func (s *slowBlocks) Blocks(ctx context.Context, path string, offset, length int64) ([]storage.Block, error) {
	var n int
	if _, err := fmt.Sscanf(path, "/many/%d", &n); err != nil {
		return s.FS.Blocks(ctx, path, offset, length)
	}
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.unknown(n) {
		return nil, errors.New("no location is known")
	}
	return []storage.Block{{Offset: offset, Length: length, Hosts: []string{string(rune('a' + n%2))}}}, nil
}

// unlocated stages splits of files whose locations the client has not looked up.
func (w *testCluster) unlocated(files int) *wire.JobSpec {
	w.t.Helper()
	spec := w.spec(files, 0)
	splits := make([]*taskproc.Split, files)
	for i := range splits {
		splits[i] = &taskproc.Split{Unlocated: true, Parts: []*taskproc.Split_Part{{
			Path: fmt.Sprintf("mem:///many/%d", i), Length: 100, FileSize: 100, Ordinal: int32(i),
		}}}
	}
	data, hash, err := taskproc.EncodeSplits(splits)
	must.Do(w.t, err)
	out, err := w.fs.Create(w.ctx, "/staging/unlocated", storage.CreateOptions{})
	if err == nil {
		if _, err = bytes.NewReader(data).WriteTo(out); err == nil {
			err = out.Close()
		}
	}
	must.Do(w.t, err)
	spec.SplitsPath, spec.SplitsHash = "mem:///staging/unlocated", hash
	return spec
}

// local counts the maps of a job that ran on the machine of their input.
func local(s *wire.JobStatus) int64 {
	for _, c := range s.Counters {
		if c.Group == counter.DataLocalMaps.Group && c.Name == counter.DataLocalMaps.Name {
			return c.Value
		}
	}
	return 0
}

// TestLocationsArriveWhileTheJobRuns uses an input whose files take 4 s to locate, 100 ms
// each. It checks that the job starts after one second, and that all its maps run on the
// machine of their input.
func TestLocationsArriveWhileTheJobRuns(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		const files = 32 * 40 // locateParallelism, 40 times
		w.fs = &slowBlocks{FS: w.fs, takes: 100 * time.Millisecond, unknown: func(int) bool { return false }}
		w.elect(0)
		w.addTasknode("a", 20, 0)
		w.addTasknode("b", 20, 0)
		began := time.Now()
		id := w.submitSpec(w.unlocated(files))
		if took := time.Since(began); took >= 100*time.Millisecond {
			t.Errorf("it was accepted after %v", took)
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		if s, err := w.leader().Job(w.ctx, id, false); err != nil || s.State != wire.JobState_RUNNING || s.MapsRunning != 40 {
			t.Errorf("after a moment the job is %v, %v", s, err)
		}
		if s := w.wait(id); s.State != wire.JobState_SUCCEEDED || local(s) != files {
			t.Errorf("%d of %d maps ran where their input lies; the job has %v", local(s), files, s.State)
		}
	})
}

// TestMissingLocationsFailNoJob locates only half of the input. It checks that a new leader
// locates the input again and restarts no task.
func TestMissingLocationsFailNoJob(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		const files = 200
		w.fs = &slowBlocks{FS: w.fs, takes: 300 * time.Millisecond, unknown: func(n int) bool { return n%4 < 2 }}
		w.elect(0)
		w.addTasknode("a", 10, 0)
		id := w.submitSpec(w.unlocated(files))
		time.Sleep(3 * time.Second)
		w.elect(1)
		s := w.wait(id)
		if s.State != wire.JobState_SUCCEEDED || local(s) != files/4 {
			t.Errorf("%d of %d maps ran where their input is known to lie; the job has %v", local(s), files, s.State)
		}
		for _, task := range s.Tasks {
			if len(task.Attempts) != 1 {
				t.Errorf("%s has %d attempts", task.Id, len(task.Attempts))
			}
		}
	})
}
