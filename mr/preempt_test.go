package mr

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/files"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// A node plays the tasknode for the attempts of one job, so that a test can
// stop, pause and kill them where it likes.
type node struct {
	t       *testing.T
	dir     string
	files   *storage.Router
	server  *task.Server
	start   *taskproc.Start // what all attempts have in common
	serial  int
	trigger atomic.Pointer[trigger]
}

// trigger sends an order when user code has been called so many times.
type trigger struct {
	calls atomic.Int64 // left
	order *taskproc.ToTask
	conn  taskproc.NodeEnd
}

// touch is called by the jobs under test at each record and group.
func (n *node) touch(t *Task) {
	tr := n.trigger.Load()
	if tr == nil || tr.calls.Add(-1) != 0 {
		return
	}
	if err := tr.conn.Send(tr.order); err != nil {
		panic(err)
	}
	for !t.attempt.Signalled() && t.Context().Err() == nil {
		runtime.Gosched()
	}
}

func newNode(t *testing.T, job anyJob, reduces int, properties map[string]string) *node {
	n := &node{t: t, dir: t.TempDir()}
	c, err := conf.FromMap(nil)
	if err != nil {
		t.Fatal(err)
	}
	if n.files, err = files.NewRouter(c, nil); err != nil {
		t.Fatal(err)
	}
	n.server = &task.Server{Programs: task.Programs{job.Name(): job}, Files: n.files, Local: local.New(local.Options{})}
	n.start = &taskproc.Start{
		JobId: "job_test_0001", Program: job.Name(), Reduces: int32(reduces),
		Properties: properties, OutputDir: "file://" + filepath.Join(n.dir, "pieces"),
	}
	return n
}

// attempt runs one attempt to its last message. order is sent at the call of
// user code numbered at, counted from 1; 0 sends none. first are messages that
// follow the start.
func (n *node) attempt(start *taskproc.Start, at int, order *taskproc.ToTask, first ...*taskproc.ToTask) *taskproc.FromTask {
	n.t.Helper()
	n.serial++
	start.AttemptId = fmt.Sprintf("attempt_%d", n.serial)
	start.LocalDir = filepath.Join(n.dir, start.AttemptId)
	if err := os.Mkdir(start.LocalDir, 0o755); err != nil {
		n.t.Fatal(err)
	}
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- n.server.Serve(context.Background(), far) }()
	conn := taskproc.NewNodeEnd(near)
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

// cloneStart is a Start like n.start.
func (n *node) cloneStart(kind taskproc.Kind, part int) *taskproc.Start {
	s := n.start
	return &taskproc.Start{
		JobId: s.JobId, Program: s.Program, Reduces: s.Reduces, Properties: s.Properties,
		OutputDir: s.OutputDir, Kind: kind, Part: int32(part), Task: int32(part),
	}
}

var (
	stopOrder  = &taskproc.ToTask{Message: &taskproc.ToTask_Stop{Stop: &taskproc.Stop{}}}
	pauseOrder = &taskproc.ToTask{Message: &taskproc.ToTask_Pause{Pause: &taskproc.Pause{}}}
	killOrder  = &taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: "test"}}}
)

// schedule says what happens to the attempts of a run; nil disturbs nothing.
type schedule struct{ rng *rand.Rand }

// next is when an attempt is disturbed, and how.
func (s *schedule) next(calls int, orders ...*taskproc.ToTask) (at int, order *taskproc.ToTask) {
	if s == nil || s.rng.IntN(4) == 0 {
		return 0, nil
	}
	return 1 + s.rng.IntN(calls), orders[s.rng.IntN(len(orders))]
}

// runMaps runs each split to its end, in as many attempts as it takes.
func (n *node) runMaps(splits []*taskproc.Split, s *schedule) (outputs []*taskproc.MapOutput, pieces [][]*taskproc.Piece) {
	n.t.Helper()
	number := len(splits)
	for i, split := range splits {
		var ofSplit []*taskproc.Piece
		work := messageOf(WholeSplit(split))
		start := n.cloneStart(taskproc.Kind_MAP, i)
		for {
			start.Split, start.Range = split, work
			at, order := s.next(40, stopOrder, pauseOrder, killOrder)
			last := n.attempt(start, at, order)
			if p := last.GetPaused(); p != nil {
				start.Checkpoint = p.Checkpoint
				continue
			}
			done := last.GetDone()
			if done == nil {
				continue // killed: the same again
			}
			ofSplit = append(ofSplit, done.Pieces...)
			if done.Output != nil {
				outputs = append(outputs, done.Output)
			}
			end := done.Range.End
			if end.Offset == work.End.Offset && end.Skip == work.End.Skip {
				break
			}
			start = n.cloneStart(taskproc.Kind_MAP, number) // the rest is a new task
			number++
			work = &taskproc.Range{Start: end, End: work.End}
		}
		pieces = append(pieces, ofSplit)
	}
	return outputs, pieces
}

func messageOf(r Range) *taskproc.Range {
	return &taskproc.Range{
		Start: &taskproc.Position{Offset: r.Start.Offset, Skip: r.Start.Skip},
		End:   &taskproc.Position{Offset: r.End.Offset, Skip: r.End.Skip},
	}
}

// runReduce reduces one partition, in as many attempts as it takes.
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
			if s.rng.IntN(4) == 0 { // pause while copying
				messages = []*taskproc.ToTask{messages[0], pauseOrder}
			}
		}
		at, order := s.next(40, pauseOrder, killOrder)
		if len(messages) > 0 && messages[len(messages)-1] == pauseOrder {
			at = 0
		}
		last := n.attempt(start, at, order, messages...)
		if p := last.GetPaused(); p != nil {
			start.Checkpoint = p.Checkpoint
			continue
		}
		if done := last.GetDone(); done != nil {
			return done.Pieces
		}
	}
}

func outputsMessage(outputs []*taskproc.MapOutput, complete bool) *taskproc.ToTask {
	return &taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: &taskproc.Outputs{Outputs: outputs, Complete: complete}}}
}

// run runs the whole job and returns the bytes of each part.
func (n *node) run(splits []*taskproc.Split, s *schedule) []string {
	n.t.Helper()
	outputs, pieces := n.runMaps(splits, s)
	if n.start.Reduces > 0 {
		pieces = nil
		for p := range int(n.start.Reduces) {
			pieces = append(pieces, n.runReduce(p, outputs, s))
		}
	}
	var parts []string
	for _, ofPart := range pieces {
		var b bytes.Buffer
		for _, p := range ofPart {
			data, err := os.ReadFile(strings.TrimPrefix(p.Path, "file:"))
			if err != nil {
				n.t.Fatal(err)
			}
			if int64(len(data)) != p.Length {
				n.t.Fatalf("piece %s: %d bytes, recorded %d", p.Path, len(data), p.Length)
			}
			b.Write(data)
		}
		parts = append(parts, b.String())
	}
	return parts
}

// splitsOf writes inputs and cuts them.
func splitsOf(t *testing.T, job anyJob, maxSplit int, inputs ...string) []*taskproc.Split {
	dir := t.TempDir()
	var paths []string
	for i, text := range inputs {
		path := filepath.Join(dir, fmt.Sprint("in", i))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	c, err := conf.FromMap(map[string]string{conf.SplitMaxSize: fmt.Sprint(maxSplit)})
	if err != nil {
		t.Fatal(err)
	}
	router, err := files.NewRouter(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	splits, err := job.details().inputs[0].Splits(t.Context(), &InputEnv{Files: router, Conf: c, Paths: paths})
	if err != nil {
		t.Fatal(err)
	}
	return splits
}

// text is lines of words, some of them often.
func someText(rng *rand.Rand, lines int) string {
	var b strings.Builder
	for range lines {
		for range rng.IntN(6) {
			fmt.Fprintf(&b, "w%d ", rng.IntN(1+rng.IntN(60)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// disturbedJobs are jobs whose user code calls touch.
func disturbedJobs(touch func(*Task)) map[string]anyJob {
	words := MapFunc(func(t *Task, _ int64, line []byte, out Emitter[[]byte, int64]) error {
		touch(t)
		for w := range Words(line) {
			out.Emit(w, 1)
		}
		return nil
	})
	sum := ReduceFunc(func(t *Task, key []byte, values iter.Seq[int64], out Emitter[[]byte, int64]) error {
		touch(t)
		return Sum[[]byte, int64]().Reduce(t, key, values, out)
	})
	places := MapFunc(func(t *Task, offset int64, line []byte, out Emitter[string, int64]) error {
		touch(t)
		for w := range Words(line) {
			out.Emit(string(w), offset)
		}
		return nil
	})
	list := ReduceFunc(func(t *Task, key string, values iter.Seq[int64], out Emitter[string, string]) error {
		touch(t)
		var all []string
		for v := range values {
			all = append(all, fmt.Sprint(v))
		}
		out.Emit(key, strings.Join(all, ","))
		return nil
	})
	upper := MapFunc(func(t *Task, _ int64, line []byte, out Emitter[struct{}, []byte]) error {
		touch(t)
		out.Emit(struct{}{}, bytes.ToUpper(line))
		return nil
	})
	return map[string]anyJob{
		"fold":     New("fold", TextLines(), words, sum, TextOutput[[]byte, int64]()).Combine(Sum[[]byte, int64]()),
		"sort":     New("sort", TextLines(), places, list, TextOutput[string, string]()),
		"combine":  New("combine", TextLines(), words, sum, TextOutput[[]byte, int64]()).Combine(sum),
		"stateful": New("stateful", TextLines(), places, Reducer[string, int64, string, int64](&running{touch: touch}), TextOutput[string, int64]()),
		"map-only": MapOnly("map-only", TextLines(), upper, TextOutput[struct{}, []byte]()),
	}
}

// running numbers the groups of its partition.
type running struct {
	touch func(*Task)
	n     int64
}

func (r *running) Reduce(t *Task, key string, values iter.Seq[int64], out Emitter[string, int64]) error {
	r.touch(t)
	for range values {
		r.n++
	}
	out.Emit(key, r.n)
	return nil
}

func (r *running) Save() ([]byte, error) { return fmt.Append(nil, r.n), nil }
func (r *running) Load(state []byte) error {
	_, err := fmt.Sscan(string(state), &r.n)
	return err
}

// TestSameBytesWhateverHappens stops, pauses and kills the attempts of a job
// anywhere, any number of times: the output is that of a run in peace.
func TestSameBytesWhateverHappens(t *testing.T) {
	variants := map[string]map[string]string{
		"plain":    nil,
		"gzip":     {conf.OutputCompress: "true", conf.OutputCompressCodec: "gzip"},
		"spills":   {conf.SortMB: "1", conf.SortFactor: "2"},
		"shuffled": {conf.MapOutputCompress: "true", conf.MapOutputCompressCodec: "zstd"},
	}
	for name := range disturbedJobs(nil) {
		for variant, properties := range variants {
			t.Run(name+"/"+variant, func(t *testing.T) {
				for seed := range uint64(8) {
					checkDisturbed(t, name, properties, seed)
				}
			})
		}
	}
}

func checkDisturbed(t *testing.T, name string, properties map[string]string, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	inputs := []string{someText(rng, 150), someText(rng, 60), ""}
	reduces := 2
	if name == "map-only" {
		reduces = 0
	}
	outcome := func(s *schedule) []string {
		var n *node
		job := disturbedJobs(func(t *Task) { n.touch(t) })[name]
		n = newNode(t, job, reduces, properties)
		return n.run(splitsOf(t, job, 700, inputs...), s)
	}
	want := outcome(nil)
	if got := outcome(&schedule{rng}); !slices.Equal(got, want) {
		t.Fatalf("seed %d: disturbed output differs:\n%q\nwant\n%q", seed, got, want)
	}
}
