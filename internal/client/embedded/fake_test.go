package embedded

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/mem"
)

// rig is an engine whose tasks are run by the test.
type rig struct {
	t      *testing.T
	fs     storage.FS
	engine *Engine

	// behave may make an attempt do something else than its work. It returns nil to let
	// the attempt do its work.
	behave func(ctx context.Context, f *fakeTask) *taskproc.FromTask

	mu struct {
		sync.Mutex
		started []string // attempts, in the order of their starts
	}
}

func newRig(t *testing.T, slots int) *rig {
	t.Helper()
	r := &rig{t: t, fs: mem.New(mem.Options{})}
	r.start(t.Context(), slots)
	t.Cleanup(func() {
		if err := r.engine.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r
}

func (r *rig) start(ctx context.Context, slots int) {
	r.t.Helper()
	var err error
	r.engine, err = Start(ctx, Config{
		MapSlots: slots, ReduceSlots: slots, LocalDir: r.t.TempDir(), Serve: r.serve,
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return r.fs, strings.TrimPrefix(name, "mem://"), nil
		},
	})
	must.Do(r.t, err)
}

// spec returns a job with this many maps, each of which reads 100 bytes.
func spec(maps, reduces int, properties ...string) (*wire.JobSpec, []*taskproc.Split) {
	g := dag.MapReduce(maps, reduces)
	s := &wire.JobSpec{
		Name: "test", Program: "fake", User: "me", OutputDir: "mem:///out", Reduces: int32(reduces),
		Graph: taskproc.FromGraph(g), Fingerprint: g.Fingerprint(), Properties: make(map[string]string),
	}
	for _, p := range properties {
		name, value, _ := strings.Cut(p, "=")
		s.Properties[name] = value
	}
	splits := make([]*taskproc.Split, maps)
	for i := range splits {
		splits[i] = &taskproc.Split{Parts: []*taskproc.Split_Part{{Path: fmt.Sprintf("mem:///in%d", i), Length: 100, FileSize: 100, Ordinal: int32(i)}}}
	}
	return s, splits
}

// run submits a job and watches it to its end.
func (r *rig) run(s *wire.JobSpec, splits []*taskproc.Split) *wire.JobStatus {
	r.t.Helper()
	c := r.engine.Client()
	id, err := c.Submit(r.t.Context(), s, splits)
	must.Do(r.t, err)
	status, err := c.Watch(r.t.Context(), id, nil)
	must.Do(r.t, err)
	return status
}

// serve runs one attempt.
func (r *rig) serve(ctx context.Context, conn io.ReadWriteCloser) error {
	end := taskproc.NewTaskEnd(conn)
	defer end.Close()
	first, err := end.Receive()
	if err != nil {
		return err
	}
	f := &fakeTask{rig: r, end: end, start: first.GetStart(), outputs: make(chan *taskproc.Outputs, 100)}
	r.mu.Lock()
	r.mu.started = append(r.mu.started, f.name())
	r.mu.Unlock()
	var listener sync.WaitGroup
	listener.Go(f.listen)
	defer listener.Wait()
	defer end.Close()
	last, err := f.play(ctx)
	if err != nil {
		return err
	}
	return end.Send(last)
}

// fakeTask is an attempt that reads nothing and writes one line.
type fakeTask struct {
	rig     *rig
	end     taskproc.TaskEnd
	start   *taskproc.Start
	outputs chan *taskproc.Outputs
}

// name abbreviates the attempt: "m0.1" is the second attempt at map 0.
func (f *fakeTask) name() string {
	kind := "r"
	if f.start.Kind == taskproc.Kind_MAP {
		kind = "m"
	}
	return fmt.Sprintf("%s%d.%d", kind, f.start.Task, f.start.Attempt)
}

func (f *fakeTask) listen() {
	defer close(f.outputs)
	for {
		m, err := f.end.Receive()
		if err != nil {
			return
		}
		if o := m.GetOutputs(); o != nil {
			f.outputs <- o
		}
	}
}

func (f *fakeTask) play(ctx context.Context) (*taskproc.FromTask, error) {
	if f.rig.behave != nil {
		if last := f.rig.behave(ctx, f); last != nil {
			return last, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.start.Kind == taskproc.Kind_MAP {
		return f.playMap(ctx)
	}
	return f.playReduce(ctx)
}

func (f *fakeTask) playMap(ctx context.Context) (*taskproc.FromTask, error) {
	done := &taskproc.Finished{Range: f.start.Range, Counters: []*taskproc.Counter{{Group: "g", Name: "maps", Value: 1}}}
	if f.start.Reduces == 0 {
		return f.withPiece(ctx, done, f.name())
	}
	done.Outputs = []*taskproc.MapOutput{{Task: f.start.Task, Path: f.start.LocalDir, IndexChecksum: 7}}
	return message(done), nil
}

// playReduce waits for all maps. It writes the ids of the attempts whose output it knows.
func (f *fakeTask) playReduce(ctx context.Context) (*taskproc.FromTask, error) {
	got := make([]string, f.start.Maps)
	for complete := f.start.Maps == 0; !complete; {
		select {
		case o, open := <-f.outputs:
			if !open {
				return nil, io.ErrUnexpectedEOF
			}
			for _, m := range o.Outputs {
				got[m.Task] = m.Attempt[strings.LastIndex(m.Attempt, "_m_"):]
			}
			complete = o.Complete
		case <-ctx.Done():
			return killed(), nil
		}
	}
	done := &taskproc.Finished{Counters: []*taskproc.Counter{{Group: "g", Name: "reduces", Value: 1}}}
	return f.withPiece(ctx, done, strings.Join(got, " "))
}

func (f *fakeTask) withPiece(ctx context.Context, done *taskproc.Finished, text string) (*taskproc.FromTask, error) {
	name := f.start.OutputDir + "/" + f.start.AttemptId
	w, err := f.rig.fs.Create(ctx, strings.TrimPrefix(name, "mem://"), storage.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(w, text+"\n"); err != nil {
		return nil, err
	}
	done.Pieces = []*taskproc.Piece{{
		Output: "part", Path: name, Length: int64(len(text) + 1), Records: 1, Stage: f.start.GroupClass, Part: f.start.Part,
	}}
	done.OutputBytes, done.OutputRecords = int64(len(text)+1), 1
	return message(done), w.Close()
}

func message(d *taskproc.Finished) *taskproc.FromTask {
	return &taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: d}}
}

func killed() *taskproc.FromTask {
	return &taskproc.FromTask{Message: &taskproc.FromTask_Exited{Exited: &taskproc.Exited{}}}
}

func failed(f *taskproc.Failure) *taskproc.FromTask {
	if f.Offset == 0 {
		f.Offset = -1
	}
	return &taskproc.FromTask{Message: &taskproc.FromTask_Failure{Failure: f}}
}

// files lists a directory with the content of each file, "" if there is no such
// directory.
func (r *rig) files(dir string) string {
	r.t.Helper()
	list, err := r.fs.List(context.Background(), dir)
	if err != nil {
		return ""
	}
	var out []string
	for _, info := range list {
		line := strings.TrimPrefix(info.Path, dir+"/")
		if info.IsDir {
			line += "/"
		} else {
			f, err := r.fs.Open(context.Background(), info.Path)
			must.Do(r.t, err)
			data, err := io.ReadAll(f)
			f.Close()
			must.Do(r.t, err)
			line += ": " + strings.TrimSuffix(string(data), "\n")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
