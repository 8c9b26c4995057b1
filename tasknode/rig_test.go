package tasknode

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// rig is a daemon whose jobmaster and tasks are faked.
type rig struct {
	t       *testing.T
	dir     string
	orders  *syncutil.Mailbox[*wire.Order]
	reports chan *wire.Report
	tasks   chan *fakeTask
	refuse  error         // of launches
	keep    chan struct{} // nil, or closed when logs may be aggregated
	logs    []JobLogs     // of calls of AggregateLogs
	logDir  string        // directory for logs of the attempts; default none
	over    []string      // jobs of OnRemoveJob

	refusals []string // of OnAdmission

	other     Launcher      // launches tasks in place of the rig; nil: the rig does
	heartbeat time.Duration // default none
	change    func(*Config) // changes the daemon's configuration; nil for none
	disk      localFiles    // local files of the daemon; nil: those of the operating system
	daemon    *Daemon
	session   *session
	joinError error // error of Connect
}

// Connect makes the rig the jobmaster, which receives all reports.
func (b *rig) Connect(_ context.Context, hello *wire.Report) (Session, error) {
	b.reports <- hello
	if b.joinError != nil {
		return nil, b.joinError
	}
	b.session = &session{b, make(chan struct{})}
	return b.session, nil
}

func (b *rig) keepLogs(ctx context.Context, logs JobLogs) error {
	b.logs = append(b.logs, logs)
	if b.keep != nil {
		select {
		case <-b.keep:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (b *rig) jobOver(job string) { b.over = append(b.over, job) }

func (b *rig) admitted(refusal string) { b.refusals = append(b.refusals, refusal) }

// session is one session with the rig.
type session struct {
	*rig
	broken chan struct{}
}

func (s *session) Send(r *wire.Report) { s.reports <- r }
func (s *session) Close()              {}

func (s *session) Receive(ctx context.Context) ([]*wire.Order, error) {
	select {
	case <-s.orders.Ready():
		return s.orders.Take(), nil
	case <-s.broken:
		return nil, errors.New("connection lost")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fakeTask is a task that does what the test says.
type fakeTask struct {
	taskproc.TaskEnd
	ctx  context.Context
	ours net.Conn
	raw  net.Conn // the task's end of ours
	gone chan struct{}
	err  error
}

func (f *fakeTask) Conn() io.ReadWriteCloser { return f.ours }
func (f *fakeTask) Exited() <-chan struct{}  { return f.gone }
func (f *fakeTask) Err() error               { return f.err }
func (f *fakeTask) Stack() string            { return "stack" }

// end ends the task.
func (f *fakeTask) end(err error) {
	f.err = err
	f.Close()
	close(f.gone)
}

func (b *rig) Launch(ctx context.Context, _ *taskproc.Start) (Task, error) {
	if b.refuse != nil {
		return nil, b.refuse
	}
	ours, theirs := net.Pipe()
	f := &fakeTask{TaskEnd: taskproc.NewTaskEnd(theirs), ctx: ctx, ours: ours, raw: theirs, gone: make(chan struct{})}
	b.tasks <- f
	return f, nil
}

func (b *rig) launcher() Launcher {
	if b.other != nil {
		return b.other
	}
	return b
}

// run runs a daemon in a bubble of virtual time while play runs the rest of the test.
func run(t *testing.T, play func(b *rig)) {
	t.Helper()
	runWith(t, nil, play)
}

// runWith does the same as run; if of is not nil, the launcher that it returns starts the
// tasks.
func runWith(t *testing.T, of func(*rig) Launcher, play func(b *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &rig{
			t: t, dir: t.TempDir(), orders: syncutil.NewMailbox[*wire.Order](),
			reports: make(chan *wire.Report, 100), tasks: make(chan *fakeTask, 100),
		}
		if of != nil {
			b.other = of(b)
		}
		b.run(func(joined *wire.Report_Joined) {
			if joined.GetMapSlots() != 1 || joined.GetReduceSlots() != 1 {
				t.Errorf("joined with %v", joined)
			}
			play(b)
		})
	})
}

// pass lets virtual time pass, in the bubble of the test.
func pass(d time.Duration) { time.Sleep(d) }

// runOn does the same as run, with other local files. change changes the daemon's
// configuration, if it is not nil.
func runOn(t *testing.T, files localFiles, change func(*Config), play func(b *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &rig{
			t: t, dir: t.TempDir(), orders: syncutil.NewMailbox[*wire.Order](), disk: files, change: change,
			reports: make(chan *wire.Report, 100), tasks: make(chan *fakeTask, 100),
		}
		b.run(func(*wire.Report_Joined) { play(b) })
	})
}

// run runs the daemon from one start to its end.
func (b *rig) run(play func(*wire.Report_Joined)) {
	b.t.Helper()
	cfg := Config{Name: "n", MapSlots: 1, ReduceSlots: 1, Dirs: []string{b.dir}, Launcher: b.launcher(), Link: b, AggregateLogs: b.keepLogs, OnRemoveJob: b.jobOver, OnAdmission: b.admitted, Heartbeat: b.heartbeat}
	if b.change != nil {
		b.change(&cfg)
	}
	n, err := New(cfg)
	must.Do(b.t, err)
	if b.disk != nil {
		n.files = b.disk
	}
	b.daemon = n
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	play((<-b.reports).GetJoined())
	cancel()
	if err := <-ended; err != nil {
		b.t.Errorf("Run: %v", err)
	}
}

const attemptID = "attempt_1_0001_m_000000_0"

func (b *rig) start(kind taskproc.Kind) *fakeTask {
	b.t.Helper()
	b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
		Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: attemptID, Kind: kind, LogDir: b.logDir},
	}}})
	if r := <-b.reports; r.GetStarted() == nil || r.AttemptId != attemptID || r.Machine != "n" {
		b.t.Fatalf("report %v", r)
	}
	task := <-b.tasks
	m, err := task.Receive()
	if err != nil || m.GetStart().GetAttemptId() != attemptID {
		b.t.Fatalf("first message %v, %v", m, err)
	}
	if info, err := os.Stat(m.GetStart().LocalDir); err != nil || !info.IsDir() {
		b.t.Fatalf("local directory: %v", err)
	}
	return task
}

func (b *rig) kill() {
	b.orders.Put(&wire.Order{Order: &wire.Order_Kill{Kill: &wire.Order_KillAttempt{AttemptId: attemptID, Cause: "enough"}}})
}

func (b *rig) removeJob() {
	b.orders.Put(&wire.Order{Order: &wire.Order_RemoveJob_{RemoveJob: &wire.Order_RemoveJob{JobId: "job_1_0001"}}})
}

// attemptDir returns the directory of the attempt that start starts.
func (b *rig) attemptDir() string {
	return filepath.Join(b.dir, "job_1_0001", taskdir.InJob(attemptID))
}

func (b *rig) files() (names []string) {
	err := filepath.WalkDir(b.dir, func(path string, _ os.DirEntry, err error) error {
		if path != b.dir {
			names = append(names, strings.TrimPrefix(path, b.dir+"/"))
		}
		return err
	})
	must.Do(b.t, err)
	return names
}
