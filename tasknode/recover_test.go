package tasknode

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
	"google.golang.org/protobuf/proto"
)

// restarts runs the daemon of a machine several times on one directory.
func restarts(t *testing.T, play ...func(b *rig, joined *wire.Report_Joined)) {
	synctest.Test(t, func(t *testing.T) {
		b := &rig{
			t: t, dir: t.TempDir(), orders: syncutil.NewMailbox[*wire.Order](),
			reports: make(chan *wire.Report, 100), tasks: make(chan *fakeTask, 100),
		}
		for _, life := range play {
			b.run(func(joined *wire.Report_Joined) { life(b, joined) })
			for len(b.reports) > 0 {
				<-b.reports
			}
		}
	})
}

// finishMap runs a map that leaves segments.
func (b *rig) finishMap() (dir string) {
	b.t.Helper()
	task := b.start(taskproc.Kind_MAP)
	dir = b.attemptDir()
	output := writeSegments(b.t, dir)
	must.Do(b.t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{Outputs: []*taskproc.MapOutput{output}, OutputBytes: 9}}}))
	task.end(nil)
	if r := <-b.reports; r.GetFinished() == nil {
		b.t.Fatalf("report %v", r)
	}
	synctest.Wait()
	return dir
}

func writeSegments(t testing.TB, dir string) *taskproc.MapOutput {
	t.Helper()
	data := filepath.Join(dir, "map.out")
	index := &shuffle.Index{DataLength: 9, DataChecksum: xxhash.Sum64String("nine char")}
	encoded := index.Encode()
	err := errors.Join(os.WriteFile(data, []byte("nine char"), 0o600), os.WriteFile(shuffle.IndexPath(data), encoded, 0o600))
	must.Do(t, err)
	return &taskproc.MapOutput{Attempt: attemptID, Path: data, IndexChecksum: index.Checksum}
}

func TestRestartedDaemonOffersItsSegmentsAgain(t *testing.T) {
	restarts(t, func(b *rig, joined *wire.Report_Joined) {
		if len(joined.Retained)+len(joined.Jobs) != 0 {
			t.Errorf("joined at first with %v", joined)
		}
		b.finishMap()
	}, func(b *rig, joined *wire.Report_Joined) {
		if !slices.Equal(joined.Retained, []string{attemptID}) || !slices.Equal(joined.Jobs, []string{"job_1_0001"}) || len(joined.Attempts) != 0 {
			t.Errorf("joined with %v", joined)
		}
		b.orders.Put(&wire.Order{Order: &wire.Order_ResendReport_{ResendReport: &wire.Order_ResendReport{AttemptId: attemptID}}})
		if r := <-b.reports; r.GetFinished().GetOutputBytes() != 9 || r.Machine != "n" || r.AttemptId != attemptID {
			t.Errorf("report %v", r)
		}
		b.orders.Put(&wire.Order{Order: &wire.Order_ResendReport_{ResendReport: &wire.Order_ResendReport{AttemptId: "another"}}})
		b.removeJob()
		synctest.Wait()
		if got := b.files(); len(got)+len(b.reports) != 0 {
			t.Errorf("files left: %v, and %d reports", got, len(b.reports))
		}
	}, func(_ *rig, joined *wire.Report_Joined) {
		if len(joined.Retained)+len(joined.Jobs) != 0 {
			t.Errorf("joined after the job with %v", joined)
		}
	})
}

func TestRestartedDaemonRemovesOrphans(t *testing.T) {
	restarts(t, func(b *rig, _ *wire.Report_Joined) {
		dir := b.finishMap()
		for _, orphan := range []string{
			"attempt_1_0001_m_000001_0/spill", "attempt_1_0001_m_000002_0.retained.tmp", "attempt_1_0001_m_000003_0.retained", "attempt_1_0001_m_000004_0.tmp/file",
			"../attempt_1_0001_m_000005_0/spill", "../attempt_1_0001_m_000006_0.retained", "../other/file",
		} {
			name := filepath.Join(filepath.Dir(dir), orphan)
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("x"), 0o600)))
		}
		must.Do(t, os.MkdirAll(taskdir.LogDir(dir), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(b.dir, "somebody's"), nil, 0o600))
	}, func(b *rig, joined *wire.Report_Joined) {
		synctest.Wait()
		want := []string{
			"job_1_0001", "job_1_0001/logs", "job_1_0001/logs/m_000000", "job_1_0001/logs/m_000000/" + attemptID,
			"job_1_0001/m_000000", "job_1_0001/m_000000/" + attemptID, "job_1_0001/m_000000/" + attemptID + "/map.out",
			"job_1_0001/m_000000/" + attemptID + "/map.out.index", "job_1_0001/m_000000/" + attemptID + ".retained", "somebody's",
		}
		if got := b.files(); !slices.Equal(got, want) {
			t.Errorf("files left:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestDamagedSegmentsAreNotOffered(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"no data":   func(dir string) error { return os.Remove(dir + "/map.out") },
		"data cut":  func(dir string) error { return os.Truncate(dir+"/map.out", 3) },
		"no index":  func(dir string) error { return os.Remove(dir + "/map.out.index") },
		"bad index": func(dir string) error { return os.WriteFile(dir+"/map.out.index", []byte("x"), 0o600) },
		"other index": func(dir string) error {
			return os.WriteFile(dir+"/map.out.index", (&shuffle.Index{DataLength: 9, DataChecksum: 1}).Encode(), 0o600)
		},
		"bad record": func(dir string) error { return os.Truncate(dir+".retained", 30) },
		"no record":  func(dir string) error { return os.Remove(dir + ".retained") },
		"moved record": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"1"), os.Rename(dir+".retained", dir+"1.retained"))
		},
		"no file": func(dir string) error { return errors.Join(os.Remove(dir+"/map.out"), os.Mkdir(dir+"/map.out", 0o700)) },
		"record outside of the shard": func(dir string) error {
			return os.Rename(dir+".retained", filepath.Join(taskdir.JobDir(dir), attemptID+".retained"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			restarts(t, func(b *rig, _ *wire.Report_Joined) {
				must.Do(t, spoil(b.finishMap()))
			}, func(b *rig, joined *wire.Report_Joined) {
				synctest.Wait()
				if len(joined.Retained) != 0 {
					t.Errorf("retained: %v", joined.Retained)
				}
				if got := b.files(); !slices.Equal(got, []string{"job_1_0001", "job_1_0001/m_000000"}) {
					t.Errorf("files left: %v", got)
				}
			})
		})
	}
}

func TestCheckpointsSurviveARestart(t *testing.T) {
	checkpoint := func(b *rig) string { return filepath.Join(b.attemptDir(), "checkpoint") }
	restarts(t, func(b *rig, _ *wire.Report_Joined) {
		task := b.start(taskproc.Kind_MAP)
		must.Do(t, os.WriteFile(checkpoint(b), []byte("abc"), 0o600))
		must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Checkpointed{Checkpointed: &taskproc.Checkpointed{
			Checkpoint: &taskproc.Checkpoint{Path: checkpoint(b), Bytes: 3},
		}}}))
		task.end(nil)
		<-b.reports
	}, func(b *rig, joined *wire.Report_Joined) {
		synctest.Wait()
		if _, err := os.Stat(checkpoint(b)); err != nil || !slices.Equal(joined.Retained, []string{attemptID}) {
			t.Errorf("checkpoint: %v; retained: %v", err, joined.Retained)
		}
	})
}

func TestRecordRoundTrip(t *testing.T) {
	want := &wire.Report{Machine: "n", AttemptId: attemptID, Report: &wire.Report_Finished{Finished: &taskproc.Finished{OutputBytes: 5}}}
	encoded, err := record.Encode(want)
	must.Do(t, err)
	if got, err := decodeRecord(encoded); err != nil || !proto.Equal(got, want) {
		t.Errorf("decoded %v, %v", got, err)
	}
	for i := range encoded {
		bad := bytes.Clone(encoded)
		bad[i] ^= 0x10
		if _, err := decodeRecord(bad); !errors.Is(err, errBadRecord) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := decodeRecord(encoded[:i]); !errors.Is(err, errBadRecord) {
			t.Errorf("%d bytes of it: %v", i, err)
		}
	}
}

func FuzzDecodeRecord(f *testing.F) {
	for n := range 3 {
		encoded, err := record.Encode(&wire.Report{AttemptId: fmt.Sprint(attemptID, n)})
		must.Do(f, err)
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		last, err := decodeRecord(data)
		if err != nil {
			if !errors.Is(err, errBadRecord) {
				t.Errorf("error %v", err)
			}
			return
		}
		again, err := record.Encode(last)
		must.Do(t, err)
		if back, err := decodeRecord(again); err != nil || !proto.Equal(back, last) {
			t.Errorf("%v decoded %v, %v", last, back, err)
		}
	})
}
