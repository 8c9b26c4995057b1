package task

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

const (
	testJob  = "job_1_0001"
	testKey  = "secret"
	testPart = 1
)

var testToken = transfer.JobToken(testKey, testJob)

// machine is a machine with outputs of maps and a shuffle server. choose selects the network
// error of each answer.
type machine struct {
	dir     string
	address string
	choose  func() string // "", "cut", "damage" or "error"
}

func newMachine(t testing.TB, choose func() string) *machine {
	t.Helper()
	m := &machine{dir: t.TempDir(), choose: choose}
	server, err := transfer.NewServer(transfer.ServerConfig{Dirs: []string{m.dir}, Key: testKey})
	must.Do(t, err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.serve(server, w, r) }))
	t.Cleanup(s.Close)
	m.address = strings.TrimPrefix(s.URL, "http://")
	return m
}

func (m *machine) serve(server http.Handler, w http.ResponseWriter, r *http.Request) {
	fault := m.choose()
	switch fault {
	case "":
		server.ServeHTTP(w, r)
		return
	case "error":
		http.Error(w, "fault", http.StatusInternalServerError)
		return
	}
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, r)
	for key, values := range answer.Header() {
		w.Header()[key] = values
	}
	w.WriteHeader(answer.Code)
	body := answer.Body.Bytes()
	if fault == "damage" && len(body) > 0 {
		body[len(body)/3] ^= 32
		_, _ = w.Write(body)
		return
	}
	_, _ = w.Write(body[:len(body)/2])
	panic(http.ErrAbortHandler)
}

// withoutErrors chooses no network error.
func withoutErrors() string { return "" }

// errorsOneIn returns a function that chooses a network error for one in n answers.
func errorsOneIn(seed uint64, n int) func() string {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 2))
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		if r.IntN(n) > 0 {
			return ""
		}
		return []string{"cut", "damage", "error"}[r.IntN(3)]
	}
}

// write makes the output of a map with several runs in each of two partitions.
func (m *machine) write(t testing.TB, r *rand.Rand, task int32, records int) *taskproc.MapOutput {
	t.Helper()
	return m.writeRuns(t, r, task, records, 1000)
}

// writeRuns is like write, but writes at most runs runs in each partition.
func (m *machine) writeRuns(t testing.TB, r *rand.Rand, task int32, records, runs int) *taskproc.MapOutput {
	t.Helper()
	attempt := fmt.Sprintf("attempt_1_0001_m_%06d_0", task)
	b, err := shuffle.NewSortBuffer(context.Background(), shuffle.Options{
		FS: local.New(local.Options{}), Path: filepath.Join(m.dir, testJob, taskdir.InJob(attempt), "map.out"),
		Partitions: testPart + 1, Memory: 64 << 10, MaxRuns: runs,
	})
	must.Do(t, err)
	for i := range records {
		b.Emit(fmt.Appendf(nil, "key %d", r.IntN(100)), fmt.Appendf(nil, "record %d of map %d", i, task))
	}
	x, err := b.Finish(context.Background())
	must.Do(t, err)
	return &taskproc.MapOutput{
		Task: task, Attempt: attempt, Ordinal: task % 2, Start: taskproc.FromPosition(dag.Position{Offset: int64(task)}),
		Path: x.Path, Address: m.address, IndexChecksum: x.Checksum,
	}
}

// readHere merges the files directly. It returns the records that the reduce should see, and
// their stored bytes.
func readHere(t testing.TB, outputs []*taskproc.MapOutput) (records string, bytes int64) {
	t.Helper()
	fsys := local.New(local.Options{})
	var sources []shuffle.Source
	for _, o := range outputs {
		x, err := shuffle.ReadIndex(context.Background(), fsys, o.Path)
		must.Do(t, err)
		bytes += x.PartitionBytes()[testPart]
		sources = append(sources, x.Sources(fsys, testPart, ordinalOf(o))...)
	}
	m, err := shuffle.NewMerge(context.Background(), sources, shuffle.MergeOptions{})
	must.Do(t, err)
	var b strings.Builder
	for m.Next() {
		fmt.Fprintf(&b, "%s=%s\n", m.Key(), m.Value())
	}
	must.Do(t, errors.Join(m.Err(), m.Close()))
	return b.String(), bytes
}

// reducer records the records of its groups. tick is called before each group; nil:
// nothing.
type reducer struct {
	seen  bytes.Buffer
	tick  func()
	until int // number of groups after which it waits for a checkpoint; 0: it does not

	reached chan struct{}    // closed when it waits
	between func(n *NodeRun) // called before each value; nil for nothing
	groups  int              // number of groups so far
}

func (p *reducer) RunNode(n *NodeRun) error {
	r := n.Reduce()
	g, err := r.Groups(nil)
	if err != nil || g == nil {
		return err
	}
	for groups := 0; ; groups++ {
		if p.tick != nil {
			p.tick()
		}
		if p.until > 0 && groups == p.until {
			close(p.reached)
			<-n.Attempt.signals.checkpointRequested()
		}
		if r.Node.Signalled() {
			if act, err := r.PollSignals(); act == Stop {
				return err
			}
		}
		if !g.NextGroup() {
			return g.Err()
		}
		for g.NextValue() {
			if p.between != nil {
				p.between(n)
			}
			if r.Node.Signalled() {
				r.PollProgress()
			}
			fmt.Fprintf(&p.seen, "%s=%s\n", g.FullKey(), g.Value())
		}
		r.CountGroup()
		p.groups++
	}
}

// reduceRun is a reduce attempt, seen from its tasknode.
type reduceRun struct {
	t    testing.TB
	node taskproc.TasknodeEnd
	last chan *taskproc.FromTask // the last message, after all messages except progress
	end  chan error              // result of Serve

	phases chan string // phases of the first hundred progress reports
}

// startReduce starts an attempt of the reduce.
func startReduce(t testing.TB, p *reducer, start *taskproc.Start) *reduceRun {
	t.Helper()
	return startReduceOn(t, p, start, local.New(local.Options{}))
}

// startReduceOn starts an attempt of the reduce with the caller's local disk.
func startReduceOn(t testing.TB, p *reducer, start *taskproc.Start, disk storage.FS) *reduceRun {
	t.Helper()
	ours, theirs := net.Pipe()
	run := &reduceRun{t: t, node: taskproc.NewTasknodeEnd(ours), last: make(chan *taskproc.FromTask, 100), end: make(chan error, 1), phases: make(chan string, 100)}
	files, err := storage.NewRouter(storage.Config{Default: "file:///", Open: map[string]storage.Opener{
		"file": func(context.Context, string) (storage.FS, error) { return local.New(local.Options{}), nil },
	}})
	must.Do(t, err)
	server := &Server{Programs: Programs{"p": p}, Files: files, Local: disk}
	go func() { run.end <- server.Serve(context.Background(), theirs) }()
	start.JobId, start.Program, start.Kind, start.Part = testJob, "p", taskproc.Kind_REDUCE, testPart
	start.ShuffleToken = cmp.Or(start.ShuffleToken, testToken)
	if start.LocalDir == "" {
		start.LocalDir = t.TempDir()
	}
	if start.Properties == nil {
		start.Properties = map[string]string{}
	}
	start.Properties["mapreduce.task.io.sort.mb"] = "1"
	start.Properties["mapreduce.reduce.shuffle.retry-delay.max.ms"] = "1"
	run.send(&taskproc.ToTask{Message: &taskproc.ToTask_Start{Start: start}})
	go run.listen()
	return run
}

// listen reads to the end of the connection.
func (r *reduceRun) listen() {
	defer close(r.last)
	for {
		m, err := r.node.Receive()
		if err != nil {
			return
		}
		p := m.GetProgress()
		if p == nil {
			r.last <- m
			continue
		}
		select {
		case r.phases <- p.Phase:
		default:
		}
	}
}

// send sends a message, and ignores the error if the attempt has ended.
func (r *reduceRun) send(m *taskproc.ToTask) { _ = r.node.Send(m) }

func (r *reduceRun) report(complete bool, outputs ...*taskproc.MapOutput) {
	r.send(&taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: &taskproc.Outputs{Outputs: outputs, Complete: complete}}})
}

func (r *reduceRun) requestCheckpoint() {
	r.send(&taskproc.ToTask{Message: &taskproc.ToTask_Preempt{Preempt: &taskproc.Preempt{}}})
}

// finish waits for the attempt's last message.
func (r *reduceRun) finish() *taskproc.FromTask {
	r.t.Helper()
	last := <-r.last
	if err := <-r.end; err != nil {
		r.t.Errorf("serve: %v", err)
	}
	_ = r.node.Close()
	return last
}

// counters returns the values of the framework's counters by name.
func counters(messages []*taskproc.Counter) map[string]int64 {
	values := map[string]int64{}
	for _, c := range messages {
		values[strings.TrimSpace(c.Name)] = c.Value
	}
	return values
}
