package tasknode

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// hangingFiles is a disk that answers no operation while hangs is not nil and not closed.
type hangingFiles struct {
	osFiles
	hangs chan struct{}
}

func (f *hangingFiles) wait() {
	if f.hangs != nil {
		<-f.hangs
	}
}

func (f *hangingFiles) ReadDir(dir string) ([]fs.DirEntry, error) {
	f.wait()
	return f.osFiles.ReadDir(dir)
}

func (f *hangingFiles) ReadRecord(path string) (*wire.Report, error) {
	f.wait()
	return f.osFiles.ReadRecord(path)
}

func (f *hangingFiles) CheckRecord(dir string, last *wire.Report) error {
	f.wait()
	return f.osFiles.CheckRecord(dir, last)
}

func (f *hangingFiles) Remove(path string) error {
	f.wait()
	return f.osFiles.Remove(path)
}

// awaitBeats receives n heartbeats and returns the other reports that came before the last.
func (b *rig) awaitBeats(n int) (others []*wire.Report) {
	for n > 0 {
		if r := <-b.reports; r.GetHeartbeat() != nil {
			n--
		} else {
			others = append(others, r)
		}
	}
	return others
}

// TestHeartbeatsWaitForNoDisk gives the daemon each order that touches local files while the
// disk hangs. The heartbeats continue, and the orders are carried out when the disk answers.
func TestHeartbeatsWaitForNoDisk(t *testing.T) {
	const other = "attempt_1_0002_m_000000_0"
	synctest.Test(t, func(t *testing.T) {
		disk := new(hangingFiles)
		b := &rig{
			t: t, dir: t.TempDir(), orders: syncutil.NewMailbox[*wire.Order](),
			reports: make(chan *wire.Report, 10000), tasks: make(chan *fakeTask, 100), disk: disk,
		}
		b.run(func(*wire.Report_Joined) { b.finishMap() })
		for len(b.reports) > 0 {
			<-b.reports
		}
		b.heartbeat = time.Second
		b.run(func(*wire.Report_Joined) {
			disk.hangs = make(chan struct{})
			for _, o := range []*wire.Order{
				{Order: &wire.Order_ResendReport_{ResendReport: &wire.Order_ResendReport{AttemptId: attemptID}}},
				{Order: &wire.Order_CopyOutput_{CopyOutput: &wire.Order_CopyOutput{AttemptId: attemptID, JobId: "job_1_0001"}}},
				{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{Start: &taskproc.Start{JobId: "job_1_0002", AttemptId: other}}}},
			} {
				b.orders.Put(o)
			}
			(<-b.tasks).end(nil) // it fails, and its files are to be removed
			b.removeJob()
			reports := b.awaitBeats(60)
			if len(reports) != 2 || reports[0].GetStarted() == nil || reports[1].GetFailed() == nil {
				t.Errorf("reports while the disk hangs: %v; want the start and the failure", reports)
			}
			b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
				Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: "attempt_1_0001_m_000001_0"},
			}}})
			if reports = b.awaitBeats(2); len(reports) != 1 || !strings.Contains(reports[0].GetExited().GetCause(), "is over") {
				t.Errorf("reports of a job that is over: %v", reports)
			}
			close(disk.hangs)
			reports = b.awaitBeats(2)
			if len(reports) != 2 || reports[0].GetFinished() == nil || reports[1].GetOutputCopied() == nil {
				t.Errorf("reports when the disk answers: %v", reports)
			}
			synctest.Wait()
			if got := b.files(); !slices.Equal(got, []string{"job_1_0002", "job_1_0002/m_000000"}) {
				t.Errorf("files left: %v", got)
			}
		})
	})
}

// TestMachineJoinsWithoutADirectoryThatHangs starts a daemon on a disk that hangs. It joins
// without the retained outputs, sends heartbeats, and retains the outputs when the disk
// answers. An attempt that has started meanwhile keeps its files.
func TestMachineJoinsWithoutADirectoryThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := new(hangingFiles)
		b := &rig{
			t: t, dir: t.TempDir(), orders: syncutil.NewMailbox[*wire.Order](),
			reports: make(chan *wire.Report, 10000), tasks: make(chan *fakeTask, 100), disk: disk,
		}
		b.run(func(*wire.Report_Joined) { b.finishMap() })
		for len(b.reports) > 0 {
			<-b.reports
		}
		disk.hangs = make(chan struct{})
		began := time.Now()
		b.run(func(joined *wire.Report_Joined) {
			if waited := time.Since(began); waited != recoverTimeout || len(joined.GetRetained()) != 0 {
				t.Errorf("joined after %v with %v", waited, joined)
			}
			const late = "attempt_1_0001_m_000001_0"
			b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
				Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: late},
			}}})
			task := <-b.tasks
			synctest.Wait()
			close(disk.hangs)
			synctest.Wait()
			close(b.session.broken)
			for {
				if joined := (<-b.reports).GetJoined(); joined != nil {
					if !slices.Equal(joined.Retained, []string{attemptID}) {
						t.Errorf("joined again with %v", joined)
					}
					break
				}
			}
			if got := b.files(); !slices.Contains(got, filepath.Join("job_1_0001", taskdir.InJob(late))) {
				t.Errorf("files of the running attempt are gone: %v", got)
			}
			task.end(nil)
		})
	})
}
