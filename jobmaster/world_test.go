package jobmaster_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/mailbox"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fair"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
	"github.com/hammr/hammr/tasknode"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a cluster whose log and tasks are played by the test; masters and
// tasknodes are real. It lives in a bubble of virtual time.
type world struct {
	t       *testing.T
	fs      storage.FS
	masters []*jobmaster.Master
	logs    []*fakeLog
	daemons sync.WaitGroup
	ctx     context.Context
	end     context.CancelFunc
	expiry  time.Duration
	forget  time.Duration // of masters that are added from now on
	specs   int           // made so far
	pools   []string      // of masters that are added from now on

	configure func(*jobmaster.Config) // those; nil leaves them as they are

	mu struct {
		sync.Mutex
		leader  int // -1 for none
		entries [][]cluster.Entry
		started []string // attempts, in the order in which they began
		lose    bool     // proposals are lost
		pass    int      // so many more proposals pass before they are held; -1 for all
		held    [][]cluster.Entry
	}
}

func policyNamed(name string, conf map[string]string) (sched.Policy, error) {
	switch name {
	case "fifo":
		return new(fifo.Policy), nil
	case "fair":
		a, err := pool.Parse("pools.xml", []byte(cmp.Or(conf["pools"], "<allocations/>")))
		return fair.New(fair.Config{Allocations: a, Preemption: true}), err
	}
	return nil, fmt.Errorf("no policy %q", name)
}

func newWorld(t *testing.T, masters int) *world {
	w := &world{t: t, fs: mem.New(mem.Options{}), expiry: 10 * time.Second}
	w.ctx, w.end = context.WithCancel(context.Background())
	w.mu.leader, w.mu.pass = -1, -1
	for range masters {
		w.addMaster()
	}
	return w
}

// inWorld plays in a world of its own, in virtual time.
func inWorld(t *testing.T, masters int, play func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, masters)
		defer w.close()
		play(w)
	})
}

// close ends every daemon and waits for it.
func (w *world) close() {
	w.end()
	w.daemons.Wait()
}

// fakeLog is one master's end of the world's log.
type fakeLog struct {
	world  *world
	number int
	queue  *mailbox.Mailbox[jobmaster.LogEvent]
	events chan jobmaster.LogEvent
}

func (w *world) addMaster() int {
	l := &fakeLog{world: w, number: len(w.logs), queue: mailbox.New[jobmaster.LogEvent](), events: make(chan jobmaster.LogEvent)}
	cfg := jobmaster.Config{
		ClusterID: "1", Log: l, Policy: policyNamed, NodeExpiry: w.expiry, NodeForget: w.forget, Pools: w.pools, HistoryDir: "mem:///history", KeepJobs: 2,
		StagingDir: "mem:///staging", LogDir: "mem:///logs", Retention: 24 * time.Hour,
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return w.fs, strings.TrimPrefix(name, "mem://"), nil
		},
	}
	if w.configure != nil {
		w.configure(&cfg)
	}
	m, err := jobmaster.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.masters, w.logs = append(w.masters, m), append(w.logs, l)
	w.mu.Unlock()
	w.daemons.Go(func() { m.Run(w.ctx) })
	w.daemons.Go(func() { l.pump(w.ctx) })
	return l.number
}

func (l *fakeLog) pump(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.queue.Ready():
			for _, e := range l.queue.Take() {
				select {
				case l.events <- e:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

func (l *fakeLog) Events() <-chan jobmaster.LogEvent { return l.events }

// Propose commits at every master, unless another one leads by now.
func (l *fakeLog) Propose(batch []cluster.Entry) {
	w := l.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.leader != l.number || w.mu.lose {
		return
	}
	if w.mu.pass == 0 {
		w.mu.held = append(w.mu.held, batch)
		return
	}
	w.mu.pass = max(w.mu.pass-1, -1)
	w.commit(batch)
}

// commit tells every master of a batch; w is locked.
func (w *world) commit(batch []cluster.Entry) {
	w.mu.entries = append(w.mu.entries, batch)
	for _, log := range w.logs {
		log.queue.Put(jobmaster.Committed{Batch: batch})
	}
}

// holdProposals lets so many more proposals pass and holds what comes then, until it is
// called again.
func (w *world) holdProposals(pass int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.pass = pass
	for _, batch := range w.mu.held {
		w.commit(batch)
	}
	w.mu.held = nil
}

// elect makes a master the leader; -1 leaves the cluster without one.
func (w *world) elect(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.lose = false
	if old := w.mu.leader; old >= 0 {
		w.logs[old].queue.Put(jobmaster.Following{})
	}
	w.mu.leader = number
	if number >= 0 {
		w.logs[number].queue.Put(jobmaster.Leading{})
	}
}

// loseProposals makes the leader talk to nobody until the next election.
func (w *world) loseProposals() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.lose = true
}

// leader is the master that leads; the test waits until there is one.
func (w *world) leader() *jobmaster.Master {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.masters[max(w.mu.leader, 0)]
}

// addNode starts a tasknode. What it returns ends it, as a crash would.
func (w *world) addNode(name string, maps, reduces int) (crash func()) {
	return w.addNodeOf(tasknode.Config{Name: name, MapSlots: maps, ReduceSlots: reduces, Dirs: []string{w.t.TempDir()}})
}

// addNodeOf is addNode where more is to be told.
func (w *world) addNodeOf(cfg tasknode.Config) (crash func()) {
	ctx, cancel := context.WithCancel(w.ctx)
	cfg.Launcher, cfg.Link, cfg.Heartbeat = w, w, time.Second
	n, err := tasknode.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.daemons.Go(func() {
		if err := n.Run(ctx); err != nil {
			w.t.Errorf("tasknode %s: %v", cfg.Name, err)
		}
	})
	return cancel
}

// Connect implements tasknode.Link: it asks one master after the other.
func (w *world) Connect(ctx context.Context, hello *wire.Report) (tasknode.Session, error) {
	w.mu.Lock()
	masters := slices.Clone(w.masters)
	w.mu.Unlock()
	for _, m := range masters {
		s := &nodeSession{orders: mailbox.New[*wire.Order](), over: make(chan error, 1)}
		a, err := m.Attach(ctx, hello, s.orders.Put, func(cause error) { s.over <- cause })
		if s.Attachment = a; err == nil {
			return s, nil
		}
		if !errors.Is(err, jobmaster.ErrNotLeader) {
			return nil, err
		}
	}
	return nil, errors.New("nobody leads")
}

type nodeSession struct {
	*jobmaster.Attachment
	orders *mailbox.Mailbox[*wire.Order]
	over   chan error
}

func (s *nodeSession) Send(r *wire.Report) { s.Report(r) }
func (s *nodeSession) Close()              { s.Detach() }

func (s *nodeSession) Receive(ctx context.Context) ([]*wire.Order, error) {
	select {
	case <-s.orders.Ready():
		return s.orders.Take(), nil
	case err := <-s.over:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Launch implements tasknode.Launcher: a task takes a second and writes a line.
func (w *world) Launch(ctx context.Context, start *taskproc.Start) (tasknode.Task, error) {
	w.mu.Lock()
	w.mu.started = append(w.mu.started, start.AttemptId[strings.Index(start.AttemptId, "_0001_")+6:])
	w.mu.Unlock()
	ours, theirs := net.Pipe()
	t := &fakeTask{conn: ours, gone: make(chan struct{})}
	go func() {
		defer close(t.gone)
		t.err = w.play(ctx, taskproc.NewTaskEnd(theirs))
	}()
	return t, nil
}

type fakeTask struct {
	conn net.Conn
	gone chan struct{}
	err  error
}

func (t *fakeTask) Conn() io.ReadWriteCloser { return t.conn }
func (t *fakeTask) Exited() <-chan struct{}  { return t.gone }
func (t *fakeTask) Err() error               { return t.err }
func (t *fakeTask) Stack() string            { return "" }

func (w *world) play(ctx context.Context, end taskproc.TaskEnd) error {
	first, err := end.Receive()
	if err != nil {
		return err
	}
	start := first.GetStart()
	complete := make(chan struct{})
	var listener sync.WaitGroup
	listener.Go(func() { listen(end, complete) })
	defer listener.Wait()
	defer end.Close()
	if start.Kind == taskproc.Kind_REDUCE {
		select {
		case <-complete:
		case <-ctx.Done():
			return ctx.Err()
		}
		sorted := &taskproc.Progress{Fraction: .4, Phase: "sort"}
		if err := end.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: sorted}}); err != nil {
			return err
		}
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return ctx.Err()
	}
	done, err := w.write(start)
	if err != nil {
		return err
	}
	return end.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Done{Done: done}})
}

// listen closes complete when it hears that every map has finished.
func listen(end taskproc.TaskEnd, complete chan struct{}) {
	heard := false
	for {
		m, err := end.Receive()
		if err != nil {
			return
		}
		if m.GetOutputs().GetComplete() && !heard {
			heard = true
			close(complete)
		}
	}
}

// write leaves a piece with the attempt's task in it, or a map's segments.
func (w *world) write(start *taskproc.Start) (*taskproc.Done, error) {
	done := &taskproc.Done{Range: start.Range}
	if start.Kind == taskproc.Kind_MAP && start.Reduces > 0 {
		out := &taskproc.MapOutput{Task: start.Task, Attempt: start.AttemptId, Path: start.LocalDir + "/out"}
		done.Outputs = []*taskproc.MapOutput{out}
		return done, writeSegments(out)
	}
	name, text := start.OutputDir+"/"+start.AttemptId, fmt.Sprintf("%v %d\n", start.Kind, start.Task)
	f, err := w.fs.Create(context.Background(), strings.TrimPrefix(name, "mem://"), storage.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(f, text); err != nil {
		return nil, err
	}
	done.Pieces = []*taskproc.Piece{{Output: "part", Path: name, Length: int64(len(text)), Records: 1, Part: start.Part, Stage: start.GroupClass}}
	return done, f.Close()
}

// writeSegments leaves segments without a record.
func writeSegments(out *taskproc.MapOutput) error {
	var index shuffle.Index
	encoded := index.Encode()
	out.IndexChecksum = index.Checksum
	return errors.Join(os.WriteFile(out.Path, nil, 0o600), os.WriteFile(shuffle.IndexPath(out.Path), encoded, 0o600))
}

// submit hands a job in at the leader, again after each change of leader, as a
// client does.
func (w *world) submit(maps, reduces int) string {
	w.t.Helper()
	return w.submitSpec(w.spec(maps, reduces))
}

func (w *world) submitSpec(spec *wire.JobSpec) string {
	w.t.Helper()
	for {
		id, err := w.leader().Submit(w.ctx, spec)
		if err == nil {
			return id
		}
		if !errors.Is(err, jobmaster.ErrNotLeader) {
			w.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (w *world) spec(maps, reduces int) *wire.JobSpec {
	g := dag.MapReduce(maps, reduces)
	splits := make([]*taskproc.Split, maps)
	for i := range splits {
		splits[i] = &taskproc.Split{Parts: []*taskproc.Split_Part{{Path: "mem:///in", Start: int64(i) * 100, Length: 100, FileSize: int64(maps) * 100}}}
	}
	data, hash, err := taskproc.EncodeSplits(splits)
	if err != nil {
		w.t.Fatal(err)
	}
	w.specs++
	name := fmt.Sprintf("/staging/%d", w.specs)
	f, err := w.fs.Create(w.ctx, name, storage.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := io.Copy(f, bytes.NewReader(data)); err != nil {
		w.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		w.t.Fatal(err)
	}
	return &wire.JobSpec{
		Name: "test", Program: "fake", User: "me", OutputDir: "mem:///out", Reduces: int32(reduces), Graph: taskproc.FromGraph(g),
		Fingerprint: g.Fingerprint(), SplitsPath: "mem://" + name, SplitsHash: hash, ClientId: "client", Sequence: 1,
	}
}

// wait follows a job to its end, wherever the leader is.
func (w *world) wait(id string) *wire.JobStatus {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 10*time.Minute)
	defer cancel()
	for {
		var last *wire.JobStatus
		s, err := w.leader().Watch(ctx, id, func(s *wire.JobStatus) { last = s })
		if err == nil {
			return s
		}
		if !errors.Is(err, jobmaster.ErrNotLeader) {
			nodes, _ := w.leader().Tasknodes(w.ctx, true)
			w.t.Fatalf("%v; the job is %v, the tasknodes are %v, attempts were %s", err, last, nodes, w.attempts())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// attempts are those that began, sorted.
func (w *world) attempts() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(w.mu.started)), " ")
}

// output lists the files of the output directory.
func (w *world) output() string {
	list, err := w.fs.List(context.Background(), "/out")
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, info := range list {
		names = append(names, strings.TrimPrefix(info.Path, "/out/"))
	}
	return strings.Join(names, " ")
}

// sleep lets virtual time pass.
func (w *world) sleep(d time.Duration) { time.Sleep(d) }
