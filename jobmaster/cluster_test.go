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
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
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

// testCluster is a cluster of real masters and tasknodes. The test provides its log and its
// tasks. It runs in a synctest bubble.
type testCluster struct {
	t       *testing.T
	fs      storage.FS
	masters []*jobmaster.Master
	logs    []*fakeLog
	daemons sync.WaitGroup
	ctx     context.Context
	end     context.CancelFunc
	expiry  time.Duration
	forget  time.Duration       // of masters added from now on
	specs   int                 // number of job specifications made so far
	pools   []string            // of masters added from now on
	counted []*taskproc.Counter // counters of each attempt
	takes   time.Duration       // time of each attempt; 0 is a second

	configure func(*jobmaster.Config) // changes the configuration of those masters; may be nil

	slow, down atomic.Bool // what prepareWaits does

	mu struct {
		sync.Mutex
		leader  int // -1 for none
		entries [][]cluster.Entry
		started []string // attempts, in the order of their starts
		lose    bool     // proposals are lost
		pass    int      // how many more proposals pass before the next are delayed; -1 for all
		delayed [][]cluster.Entry
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

func newTestCluster(t *testing.T, masters int) *testCluster {
	w := &testCluster{t: t, fs: mem.New(mem.Options{}), expiry: 10 * time.Second}
	w.ctx, w.end = context.WithCancel(context.Background())
	w.mu.leader, w.mu.pass = -1, -1
	for range masters {
		w.addMaster()
	}
	return w
}

// withCluster runs a test on a cluster of its own, in virtual time.
func withCluster(t *testing.T, masters int, play func(w *testCluster)) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestCluster(t, masters)
		defer w.close()
		play(w)
	})
}

// close stops every daemon and waits for it.
func (w *testCluster) close() {
	w.end()
	w.daemons.Wait()
}

// fakeLog is the log of one master.
type fakeLog struct {
	world  *testCluster
	number int
	queue  *syncutil.Mailbox[jobmaster.LogEvent]
	events chan jobmaster.LogEvent
}

func (w *testCluster) addMaster() int {
	l := &fakeLog{world: w, number: len(w.logs), queue: syncutil.NewMailbox[jobmaster.LogEvent](), events: make(chan jobmaster.LogEvent)}
	cfg := jobmaster.Config{
		ClusterID: "1", Log: l, Policy: policyNamed, TasknodeExpiry: w.expiry, TasknodeForget: w.forget, Pools: w.pools, HistoryDir: "mem:///history", KeepJobs: 2,
		StagingDir: "mem:///staging", LogDir: "mem:///logs", Retention: 24 * time.Hour,
		ShuffleToken: func(job string) string { return "token of " + job },
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return w.fs, strings.TrimPrefix(name, "mem://"), nil
		},
	}
	if w.configure != nil {
		w.configure(&cfg)
	}
	m, err := jobmaster.New(cfg)
	must.Do(w.t, err)
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

// Propose commits at every master, unless another master leads by now.
func (l *fakeLog) Propose(batch []cluster.Entry) {
	w := l.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.leader != l.number || w.mu.lose {
		return
	}
	if w.mu.pass == 0 {
		w.mu.delayed = append(w.mu.delayed, batch)
		return
	}
	w.mu.pass = max(w.mu.pass-1, -1)
	w.commit(batch)
}

// commit emits a batch to every master; w is locked.
func (w *testCluster) commit(batch []cluster.Entry) {
	w.mu.entries = append(w.mu.entries, batch)
	for _, log := range w.logs {
		log.queue.Put(jobmaster.Committed{Batch: batch, Index: uint64(len(w.mu.entries))})
	}
}

// delayProposals lets pass more proposals through and delays those after them, until it is
// called again.
func (w *testCluster) delayProposals(pass int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.pass = pass
	for _, batch := range w.mu.delayed {
		w.commit(batch)
	}
	w.mu.delayed = nil
}

// elect makes a master the leader; -1 leaves the cluster without one.
func (w *testCluster) elect(number int) {
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

// loseProposals drops the leader's proposals until the next election.
func (w *testCluster) loseProposals() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.lose = true
}

// leader waits for a leader and returns it.
func (w *testCluster) leader() *jobmaster.Master {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.masters[max(w.mu.leader, 0)]
}

// addTasknode starts a tasknode. crash ends it without a last message.
func (w *testCluster) addTasknode(name string, maps, reduces int) (crash func()) {
	return w.addTasknodeOf(tasknode.Config{Name: name, MapSlots: maps, ReduceSlots: reduces, Dirs: []string{w.t.TempDir()}})
}

// addTasknodeOf does the same as addTasknode, with a full configuration.
func (w *testCluster) addTasknodeOf(cfg tasknode.Config) (crash func()) {
	ctx, cancel := context.WithCancel(w.ctx)
	if cfg.Launcher == nil {
		cfg.Launcher = w
	}
	cfg.Link, cfg.Heartbeat = w, time.Second
	n, err := tasknode.New(cfg)
	must.Do(w.t, err)
	w.daemons.Go(func() {
		if err := n.Run(ctx); err != nil {
			w.t.Errorf("tasknode %s: %v", cfg.Name, err)
		}
	})
	return cancel
}

// Connect implements tasknode.Link: it tries one master after the other.
func (w *testCluster) Connect(ctx context.Context, hello *wire.Report) (tasknode.Session, error) {
	w.mu.Lock()
	masters := slices.Clone(w.masters)
	w.mu.Unlock()
	for _, m := range masters {
		s := &tasknodeSession{ctx: ctx, orders: syncutil.NewMailbox[*wire.Order](), over: make(chan error, 1)}
		a, err := m.Attach(ctx, hello, s.orders.Put, func(cause error) { s.over <- cause })
		if s.Attachment = a; err == nil {
			return s, nil
		}
		if !errors.Is(err, jobmaster.ErrNotLeader) {
			return nil, err
		}
	}
	return nil, errors.New("no master leads")
}

type tasknodeSession struct {
	*jobmaster.Attachment
	ctx    context.Context // of the tasknode; a crashed one sends nothing
	orders *syncutil.Mailbox[*wire.Order]
	over   chan error
}

func (s *tasknodeSession) Close() { s.Detach() }

func (s *tasknodeSession) Send(r *wire.Report) {
	if s.ctx.Err() == nil {
		s.Report(r)
	}
}

func (s *tasknodeSession) Receive(ctx context.Context) ([]*wire.Order, error) {
	select {
	case <-s.orders.Ready():
		return s.orders.Take(), nil
	case err := <-s.over:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Launch implements tasknode.Launcher: a task runs for a second and writes a line.
func (w *testCluster) Launch(ctx context.Context, start *taskproc.Start) (tasknode.Task, error) {
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

func (w *testCluster) play(ctx context.Context, end taskproc.TaskEnd) error {
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
	case <-time.After(cmp.Or(w.takes, time.Second)):
	case <-ctx.Done():
		return ctx.Err()
	}
	done, err := w.write(start)
	if err != nil {
		return err
	}
	return end.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: done}})
}

// listen closes complete when every map has finished.
func listen(end taskproc.TaskEnd, complete chan struct{}) {
	closed := false
	for {
		m, err := end.Receive()
		if err != nil {
			return
		}
		if m.GetOutputs().GetComplete() && !closed {
			closed = true
			close(complete)
		}
	}
}

// write writes a piece that contains the id of the attempt's task, or the segments of a map.
func (w *testCluster) write(start *taskproc.Start) (*taskproc.Finished, error) {
	done := &taskproc.Finished{Range: start.Range, Counters: w.counted}
	if start.Kind == taskproc.Kind_MAP && start.Reduces > 0 {
		out := &taskproc.MapOutput{Task: start.Task, Attempt: start.AttemptId, Path: start.LocalDir + "/out"}
		done.Outputs = []*taskproc.MapOutput{out}
		return done, writeSegments(out)
	}
	if start.OutputDir == "" {
		return done, nil
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

// writeSegments writes empty segments.
func writeSegments(out *taskproc.MapOutput) error {
	var index shuffle.Index
	encoded := index.Encode()
	out.IndexChecksum = index.Checksum
	return errors.Join(os.WriteFile(out.Path, nil, 0o600), os.WriteFile(shuffle.IndexPath(out.Path), encoded, 0o600))
}

// submit submits a job to the leader, and again after each change of leader, as a client
// does.
func (w *testCluster) submit(maps, reduces int) string {
	w.t.Helper()
	return w.submitSpec(w.spec(maps, reduces))
}

func (w *testCluster) submitSpec(spec *wire.JobSpec) string {
	w.t.Helper()
	for {
		id, err := w.leader().Submit(w.ctx, w.staged(spec))
		if err == nil {
			return id
		}
		if !errors.Is(err, jobmaster.ErrNotLeader) {
			w.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// staged moves the splits of a job to where a client with its id and sequence stages them.
func (w *testCluster) staged(spec *wire.JobSpec) *wire.JobSpec {
	name := fmt.Sprintf("/staging/jobs/%s-%d/splits", spec.ClientId, spec.Sequence)
	if was := strings.TrimPrefix(spec.SplitsPath, "mem://"); was != name {
		err := errors.Join(w.fs.MkdirAll(w.ctx, path.Dir(name)), w.fs.Remove(w.ctx, name, false), w.fs.Rename(w.ctx, was, name))
		if err != nil {
			w.t.Error(err)
		}
		spec.SplitsPath = "mem://" + name
	}
	return spec
}

func (w *testCluster) spec(maps, reduces int) *wire.JobSpec {
	g := dag.MapReduce(maps, reduces)
	splits := make([]*taskproc.Split, maps)
	for i := range splits {
		splits[i] = &taskproc.Split{Parts: []*taskproc.Split_Part{{Path: "mem:///in", Start: int64(i) * 100, Length: 100, FileSize: int64(maps) * 100}}}
	}
	data, hash, err := taskproc.EncodeSplits(splits)
	must.Do(w.t, err)
	w.specs++
	name := fmt.Sprintf("/staging/%d", w.specs)
	f, err := w.fs.Create(w.ctx, name, storage.CreateOptions{})
	must.Do(w.t, err)
	if _, err := io.Copy(f, bytes.NewReader(data)); err != nil {
		w.t.Fatal(err)
	}
	must.Do(w.t, f.Close())
	return &wire.JobSpec{
		Name: "test", Program: "fake", User: "me", OutputDir: "mem:///out", Reduces: int32(reduces), Graph: taskproc.FromGraph(g),
		Fingerprint: g.Fingerprint(), SplitsPath: "mem://" + name, SplitsHash: hash, ClientId: "client", Sequence: 1,
	}
}

// wait watches a job to its end, whichever master leads.
func (w *testCluster) wait(id string) *wire.JobStatus {
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
			nodes, _ := w.leader().Tasknodes(w.ctx)
			w.t.Fatalf("%v; the job is %v, the tasknodes are %v, attempts were %s", err, last, nodes, w.attempts())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// attempts lists the attempts that have started, sorted.
func (w *testCluster) attempts() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(w.mu.started)), " ")
}

// output lists the files of the output directory.
func (w *testCluster) output() string {
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
func (w *testCluster) sleep(d time.Duration) { pass(d) }

// pass lets virtual time pass, in the bubble of the test.
func pass(d time.Duration) { time.Sleep(d) }
