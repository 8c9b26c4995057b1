package mr

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// node acts as the tasknode for the attempts of one job. A test can split, checkpoint and
// kill them at any point.
type node struct {
	t       *testing.T
	job     anyJob
	dir     string
	files   *storage.Router
	server  *task.Server
	start   *taskproc.Start // fields that all attempts share
	address string          // address of the shuffle server for the attempts' files
	serial  int
	emitted uint64 // sum over what maps have emitted (shuffle.Sums)
	trigger atomic.Pointer[trigger]

	onDecline func() // called when an attempt declines; if nil, the test fails
}

// trigger sends an order after a number of calls of user code.
type trigger struct {
	calls atomic.Int64 // calls that remain
	order *taskproc.ToTask
	conn  taskproc.TasknodeEnd
}

// touch is called by the jobs under test at each record and group. It sends the order when
// it is due and waits until the attempt has received it.
func (n *node) touch(t *Task) {
	tr := n.trigger.Load()
	if tr == nil || tr.calls.Add(-1) != 0 {
		return
	}
	if err := tr.conn.Send(tr.order); err != nil {
		panic(err)
	}
	for !t.node.Signalled() && t.Context().Err() == nil {
		runtime.Gosched()
	}
}

// testJobID names the job of a node and the directory of its attempts.
const testJobID = "job_test_0001"

func newNode(t *testing.T, job anyJob, reduces int, properties map[string]string) *node {
	n := &node{t: t, job: job, dir: t.TempDir()}
	segments, err := transfer.NewServer(transfer.ServerConfig{Dirs: []string{n.dir}})
	must.Do(t, err)
	server := httptest.NewServer(segments)
	t.Cleanup(server.Close)
	n.address = strings.TrimPrefix(server.URL, "http://")
	c, err := conf.FromMap(nil)
	must.Do(t, err)
	if n.files, err = fsconf.NewRouter(c, nil); err != nil {
		t.Fatal(err)
	}
	n.server = &task.Server{Programs: task.Programs{job.Name(): job}, Files: n.files, Local: local.New(local.Options{})}
	if err := os.MkdirAll(filepath.Join(n.dir, "pieces"), 0o755); err != nil { // as the master does
		t.Fatal(err)
	}
	set := map[string]string{conf.BoundaryTimeout: "24h"} // no attempt declines, even if the machine is busy
	maps.Copy(set, properties)
	n.start = &taskproc.Start{
		JobId: testJobID, Program: job.Name(), Reduces: int32(reduces),
		Properties: set, OutputDir: "file://" + filepath.Join(n.dir, "pieces"),
	}
	return n
}

// attempt runs one attempt until its final message. It sends order at the call of user code
// with the number at, counted from 1; 0 sends no order. The messages first are sent right
// after the start.
func (n *node) attempt(start *taskproc.Start, at int, order *taskproc.ToTask, first ...*taskproc.ToTask) *taskproc.FromTask {
	n.t.Helper()
	n.serial++
	start.AttemptId = fmt.Sprintf("attempt_test_0001_m_000000_%d", n.serial)
	start.LocalDir = filepath.Join(n.dir, testJobID, taskdir.InJob(start.AttemptId))
	must.Do(n.t, os.MkdirAll(start.LocalDir, 0o755))
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- n.server.Serve(context.Background(), far) }()
	conn := taskproc.NewTasknodeEnd(near)
	defer conn.Close()
	tr := &trigger{order: order, conn: conn}
	tr.calls.Store(int64(at))
	n.trigger.Store(tr)
	sent := make(chan error, 1)
	go func() {
		for _, m := range append([]*taskproc.ToTask{{Message: &taskproc.ToTask_Start{Start: start}}}, first...) {
			if err := conn.Send(m); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for {
		m, err := conn.Receive()
		if err != nil {
			n.t.Fatalf("%s: %v, served: %v", start.AttemptId, err, <-served)
		}
		if m.GetProgress() != nil {
			continue
		}
		if d := m.GetPreemptionDeclined(); d != nil && n.onDecline != nil {
			n.onDecline()
			continue
		} else if d != nil {
			n.t.Fatalf("%s declines to pause: %s", start.AttemptId, d.Cause)
		}
		if err := <-served; err != nil {
			n.t.Fatalf("%s: %v", start.AttemptId, err)
		}
		<-sent
		if f := m.GetFailure(); f != nil {
			n.t.Fatalf("%s: %s\n%s", start.AttemptId, f.Cause, f.Stack)
		}
		return m
	}
}

// cloneStart returns a Start for another task with the shared fields of n.start.
func (n *node) cloneStart(kind taskproc.Kind, part int) *taskproc.Start {
	s := n.start
	return &taskproc.Start{
		JobId: s.JobId, Program: s.Program, Reduces: s.Reduces, Properties: s.Properties,
		OutputDir: s.OutputDir, Kind: kind, Part: int32(part), Task: int32(part),
	}
}

var (
	stopOrder  = &taskproc.ToTask{Message: &taskproc.ToTask_Truncate{Truncate: &taskproc.Truncate{}}}
	pauseOrder = &taskproc.ToTask{Message: &taskproc.ToTask_Preempt{Preempt: &taskproc.Preempt{}}}
	killOrder  = &taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: "test"}}}
)

// schedule draws the orders that disturb the attempts of a run and counts them. A nil
// schedule sends no orders.
type schedule struct {
	rng *rand.Rand
	tally
}

// tally counts what happened to the attempts of a run.
type tally struct{ splits, pauses, moves, kills int }

// resume lets the next attempt resume from a checkpoint. At random, it resumes on another
// machine and fetches the checkpoint.
func (s *schedule) resume(n *node, start *taskproc.Start, c *taskproc.Checkpoint) {
	s.pauses++
	start.Checkpoint, start.ShuffleAddress = c, ""
	if s.rng.IntN(3) == 0 {
		s.moves++
		start.Checkpoint.Address, start.ShuffleAddress = n.address, "another"
	}
}

// next draws the order for an attempt and the call of user code at which it is sent.
func (s *schedule) next(calls int, orders ...*taskproc.ToTask) (at int, order *taskproc.ToTask) {
	if s == nil || s.rng.IntN(4) == 0 {
		return 0, nil
	}
	return 1 + s.rng.IntN(calls), orders[s.rng.IntN(len(orders))]
}

// runMaps runs the maps of all splits until they are complete, with as many attempts as
// necessary.
func (n *node) runMaps(splits []*taskproc.Split, s *schedule) (outputs []*taskproc.MapOutput, pieces [][]*taskproc.Piece) {
	n.t.Helper()
	number := len(splits)
	for i, split := range splits {
		var ofSplit []*taskproc.Piece
		work := messageOf(splitOf(split, Range{}).Whole())
		start := n.cloneStart(taskproc.Kind_MAP, i)
		for {
			start.Split, start.Range = split, work
			at, order := s.next(40, stopOrder, pauseOrder, killOrder)
			last := n.attempt(start, at, order)
			if p := last.GetCheckpointed(); p != nil {
				s.resume(n, start, p.Checkpoint)
				continue
			}
			done := last.GetFinished()
			if done == nil {
				s.kills++
				continue // the attempt was killed: the same task starts over
			}
			ofSplit = append(ofSplit, done.Pieces...)
			outputs = append(outputs, done.Outputs...)
			for _, o := range done.Outputs {
				if o.Emitted == 0 {
					n.t.Fatalf("%s reports no sums of edge %d", o.Attempt, o.Edge)
				}
				n.emitted += o.Emitted - 1
			}
			end := done.Range.End
			if end.Offset == work.End.Offset && end.Skip == work.End.Skip {
				break
			}
			s.splits++
			start = n.cloneStart(taskproc.Kind_MAP, number) // the rest is a new task
			number++
			work = &taskproc.Range{Start: end, End: work.End}
		}
		pieces = append(pieces, ofSplit)
	}
	return outputs, pieces
}

// graph returns the job's graph. If the job defines stages of its own, its source must be
// called map.
func (n *node) graph(splits []*taskproc.Split) dag.Graph {
	return detailsOf(n.t, n.job).graph(map[string]int{"map": len(splits)}, int(n.start.Reduces))
}

// runGroups runs one group of Nodes for each split, each group in one process and with as
// many attempts as necessary.
func (n *node) runGroups(g dag.Graph, splits []*taskproc.Split, s *schedule) (pieces [][]*taskproc.Piece) {
	n.t.Helper()
	for i, split := range splits {
		start := n.cloneStart(taskproc.Kind_MAP, i)
		start.Graph, start.Group = taskproc.FromGraph(g), int32(i)
		start.Sources = []*taskproc.Source{{Node: int32(i), Split: split}}
		for {
			at, order := s.next(300, pauseOrder, pauseOrder, killOrder)
			last := n.attempt(start, at, order)
			if done := last.GetFinished(); done != nil {
				pieces = append(pieces, done.Pieces)
				break
			}
			if p := last.GetCheckpointed(); p != nil {
				s.resume(n, start, p.Checkpoint)
			} else {
				s.kills++
			}
		}
	}
	return pieces
}

func messageOf(r Range) *taskproc.Range {
	return &taskproc.Range{
		Start: &taskproc.Position{Offset: r.Start.Offset, Skip: r.Start.Skip},
		End:   &taskproc.Position{Offset: r.End.Offset, Skip: r.End.Skip},
	}
}

// runReduce reduces one partition, with as many attempts as necessary.
func (n *node) runReduce(part int, outputs []*taskproc.MapOutput, s *schedule) []*taskproc.Piece {
	n.t.Helper()
	start := n.cloneStart(taskproc.Kind_REDUCE, part)
	for {
		news := slices.Clone(outputs)
		messages := []*taskproc.ToTask{outputsMessage(news, true)}
		if s != nil {
			s.rng.Shuffle(len(news), func(i, j int) { news[i], news[j] = news[j], news[i] })
			cut := s.rng.IntN(len(news) + 1)
			messages = []*taskproc.ToTask{outputsMessage(news[:cut], false), outputsMessage(news[cut:], true)}
			if s.rng.IntN(4) == 0 { // checkpoint while outputs are copied
				messages = []*taskproc.ToTask{messages[0], pauseOrder}
			}
		}
		at, order := s.next(40, pauseOrder, killOrder)
		if len(messages) > 0 && messages[len(messages)-1] == pauseOrder {
			at = 0
		}
		last := n.attempt(start, at, order, messages...)
		if p := last.GetCheckpointed(); p != nil {
			s.resume(n, start, p.Checkpoint)
			continue
		}
		if done := last.GetFinished(); done != nil {
			return done.Pieces
		}
		s.kills++
	}
}

func outputsMessage(outputs []*taskproc.MapOutput, complete bool) *taskproc.ToTask {
	return &taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: &taskproc.Outputs{Outputs: outputs, Complete: complete}}}
}

// run runs the whole job and returns the bytes of each part.
func (n *node) run(splits []*taskproc.Split, s *schedule) []string {
	n.t.Helper()
	var parts []string
	if g := n.graph(splits); slices.ContainsFunc(g.Edges, func(e dag.Edge) bool { return e.Channel != dag.ChannelFile }) {
		for _, ofPart := range n.runGroups(g, splits, s) {
			parts = append(parts, n.textOf(ofPart))
		}
		return parts
	}
	outputs, pieces := n.runMaps(splits, s)
	if n.start.Reduces > 0 {
		pieces = nil
		for p := range int(n.start.Reduces) {
			pieces = append(pieces, n.runReduce(p, outputs, s))
		}
	}
	for _, ofPart := range pieces {
		parts = append(parts, n.textOf(ofPart))
	}
	return parts
}

// textOf returns the joined pieces of all outputs, sorted by output.
func (n *node) textOf(pieces []*taskproc.Piece) string {
	n.t.Helper()
	var b bytes.Buffer
	slices.SortStableFunc(pieces, func(a, b *taskproc.Piece) int { return strings.Compare(a.Output, b.Output) })
	for _, p := range pieces {
		data, err := os.ReadFile(strings.TrimPrefix(p.Path, "file:"))
		must.Do(n.t, err)
		if int64(len(data)) != p.Length {
			n.t.Fatalf("piece %s: %d bytes, recorded %d", p.Path, len(data), p.Length)
		}
		b.Write(data)
	}
	return b.String()
}

// inputFile is one input file of a job.
type inputFile struct {
	suffix  string // suffix of the file name
	content []byte
}

// cutInputs writes input files and returns their splits.
func cutInputs(t *testing.T, job anyJob, maxSplit int, inputs ...inputFile) []*taskproc.Split {
	dir := t.TempDir()
	var paths []string
	for i, f := range inputs {
		path := filepath.Join(dir, fmt.Sprintf("in%02d%s", i, f.suffix))
		must.Do(t, os.WriteFile(path, f.content, 0o644))
		paths = append(paths, path)
	}
	c, err := conf.FromMap(map[string]string{conf.SplitMaxSize: fmt.Sprint(maxSplit)})
	must.Do(t, err)
	router, err := fsconf.NewRouter(c, nil)
	must.Do(t, err)
	cuts, err := detailsOf(t, job).inputs[0].Splits(t.Context(), &InputEnv{Files: router, Paths: paths, conf: c})
	must.Do(t, err)
	var numbers numberer
	splits := make([]*taskproc.Split, len(cuts))
	for i, s := range cuts {
		splits[i] = numbers.number(s)
	}
	return splits
}

func detailsOf(t *testing.T, job anyJob) details {
	t.Helper()
	det, err := job.details(nil)
	must.Do(t, err)
	return det
}

func (a *tally) add(b tally) {
	a.splits, a.pauses, a.moves, a.kills = a.splits+b.splits, a.pauses+b.pauses, a.moves+b.moves, a.kills+b.kills
}
