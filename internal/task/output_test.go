package task

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
	"github.com/hammr/hammr/storage/mem"
)

// suspendRig is an attempt at two Nodes joined by memory. Each writes lines to a remote
// output on request. Such an attempt cannot write a checkpoint.
type suspendRig struct {
	t     *testing.T
	out   *mem.FS
	lines chan string // lines that the reader writes; closed: it ends
	node  taskproc.TasknodeEnd
	says  chan *taskproc.FromTask
}

func newSuspendRig(t *testing.T) *suspendRig {
	x := &suspendRig{t: t, out: mem.New(mem.Options{Name: "out"}), lines: make(chan string), says: make(chan *taskproc.FromTask)}
	router, err := storage.NewRouter(storage.Config{Default: "mem://out/", Open: map[string]storage.Opener{
		"mem": func(context.Context, string) (storage.FS, error) { return x.out, nil },
	}})
	must.Do(t, err)
	r := newRig(t, oneEdge(1, 1, dag.ChannelSHM, dag.Broadcast), programFunc(x.writes))
	r.server.Files = router
	start := r.start(dag.GroupID{})
	start.OutputDir = "mem://out/job"
	if err := x.out.MkdirAll(t.Context(), "/job"); err != nil { // as the master does
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	x.node = taskproc.NewTasknodeEnd(ours)
	go func() {
		if err := r.server.Serve(context.Background(), theirs); err != nil {
			t.Errorf("serve: %v", err)
		}
	}()
	go func() {
		defer close(x.says)
		for {
			m, err := x.node.Receive()
			if err != nil {
				return
			}
			if m.GetProgress() == nil {
				x.says <- m
			}
		}
	}()
	x.send(&taskproc.ToTask{Message: &taskproc.ToTask_Start{Start: start}})
	return x
}

// writes is the program that the Nodes run.
func (x *suspendRig) writes(n *NodeRun) error {
	if n.Stage() != "to" {
		return nil
	}
	o, err := n.Output("part", ".txt")
	if err != nil {
		return err
	}
	for {
		select {
		case line, more := <-x.lines:
			if !more {
				return nil
			}
			o.Records++
			if _, err := io.WriteString(o, line); err != nil {
				return err
			}
		case <-n.Attempt.Context().Done():
			return context.Cause(n.Attempt.Context())
		}
	}
}

func (x *suspendRig) send(m *taskproc.ToTask) {
	if err := x.node.Send(m); err != nil {
		x.t.Error(err)
	}
}

// suspend orders the attempt to get ready for suspension, and waits for its answer.
func (x *suspendRig) suspend(number int64) {
	x.t.Helper()
	x.send(&taskproc.ToTask{Message: &taskproc.ToTask_Suspend{Suspend: &taskproc.Suspend{Number: number}}})
	if m := <-x.says; m.GetSuspendReady().GetNumber() != number {
		x.t.Errorf("ordered to be suspended it sends %v", m)
	}
}

func (x *suspendRig) resume() {
	x.send(&taskproc.ToTask{Message: &taskproc.ToTask_Resume{Resume: new(taskproc.Resume)}})
}

// end returns the attempt's last message and closes the connection.
func (x *suspendRig) end() *taskproc.FromTask {
	last := <-x.says
	for range x.says {
	}
	_ = x.node.Close()
	return last
}

// files lists the files of the output.
func (x *suspendRig) files() (names []string) {
	x.t.Helper()
	infos, err := x.out.List(x.t.Context(), "/job")
	must.Do(x.t, err)
	for _, i := range infos {
		names = append(names, i.Path)
	}
	return names
}

// text returns the content of a file.
func (x *suspendRig) text(name string) string {
	x.t.Helper()
	_, path, _ := strings.Cut(name, "mem://out")
	f, err := x.out.Open(x.t.Context(), path)
	must.Do(x.t, err)
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
	must.Do(x.t, err)
	return string(b)
}

// TestOutputClosesItsPieceWhileSuspended checks that an output closes its file before the
// suspension, and writes nothing until the resume. Then it continues in another file. The
// files, joined, have all that was written.
func TestOutputClosesItsPieceWhileSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSuspendRig(t)
		x.lines <- "one "
		x.lines <- "two "
		synctest.Wait() // until it is written
		x.suspend(1)
		if got := x.files(); len(got) != 1 {
			t.Errorf("files %q", got)
		}
		x.lines <- "three "
		synctest.Wait()
		if got := x.files(); len(got) != 1 {
			t.Errorf("it writes while it is to be suspended: %q", got)
		}
		x.resume()
		x.suspend(2)
		x.resume()
		x.suspend(3) // nothing was written since: no new piece
		x.resume()
		close(x.lines) // not before: an attempt may end while it is to be suspended
		done := x.end().GetFinished()
		var texts []string
		var records []int64
		for _, p := range done.GetPieces() {
			texts, records = append(texts, x.text(p.Path)), append(records, p.Records)
			if p.Output != "part" || p.Stage != 1 || p.Suffix != ".txt" || p.Length != int64(len(texts[len(texts)-1])) {
				t.Errorf("piece %v", p)
			}
		}
		if want := []string{"one two ", "three "}; !slices.Equal(texts, want) || !slices.Equal(records, []int64{0, 3}) {
			t.Errorf("pieces %q of %v records, want %q of 0 and 3", texts, records, want)
		}
		if done.GetOutputRecords() != 3 || done.GetOutputBytes() != 14 {
			t.Errorf("%d records of %d bytes", done.GetOutputRecords(), done.GetOutputBytes())
		}
	})
}

// TestOutputEndsWhileSuspended ends an attempt that is resumed before it writes more.
func TestOutputEndsWhileSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSuspendRig(t)
		x.lines <- "all"
		synctest.Wait()
		x.suspend(1)
		close(x.lines)
		if done := x.end().GetFinished(); len(done.GetPieces()) != 1 || done.GetOutputRecords() != 1 || done.GetOutputBytes() != 3 {
			t.Errorf("%v", done)
		}
	})
}

// TestSuspendAndResume checks that an attempt that is suspended by a test makes pieces of local files too.
func TestSuspendAndResume(t *testing.T) {
	router, err := storage.NewRouter(storage.Config{Default: "file:///", Open: map[string]storage.Opener{
		"file": func(context.Context, string) (storage.FS, error) { return local.New(local.Options{}), nil },
	}})
	must.Do(t, err)
	r := newRig(t, oneEdge(1, 1, dag.ChannelSHM, dag.Broadcast), programFunc(func(n *NodeRun) error {
		if n.Stage() != "to" {
			return nil
		}
		o, err := n.Output("part", "")
		for i := 0; i < 3 && err == nil; i++ {
			if _, err = fmt.Fprint(o, i); err == nil && i != 1 {
				err = n.SuspendAndResume()
			}
		}
		return err
	}))
	r.server.Files = router
	ours, theirs := net.Pipe()
	go func() { _ = r.server.Serve(context.Background(), theirs) }()
	node := taskproc.NewTasknodeEnd(ours)
	defer node.Close()
	start := r.start(dag.GroupID{})
	start.OutputDir = t.TempDir()
	must.Do(t, node.Send(&taskproc.ToTask{Message: &taskproc.ToTask_Start{Start: start}}))
	for {
		m, err := node.Receive()
		must.Do(t, err)
		if m.GetFinished() == nil {
			continue
		}
		var texts []string
		for _, p := range m.GetFinished().GetPieces() {
			b, err := os.ReadFile(strings.TrimPrefix(p.Path, "file:"))
			must.Do(t, err)
			texts = append(texts, string(b))
		}
		if want := []string{"0", "12"}; !slices.Equal(texts, want) {
			t.Errorf("pieces %q, want %q", texts, want)
		}
		return
	}
}

// TestOutputOfAKilledAttempt checks that a killed attempt removes all files, also those of
// closed pieces.
func TestOutputOfAKilledAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSuspendRig(t)
		x.lines <- "lost"
		synctest.Wait()
		x.suspend(1)
		x.lines <- " too" // blocks until the attempt is resumed
		x.send(&taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: new(taskproc.Kill)}})
		if m := x.end(); m.GetExited() == nil {
			t.Errorf("it ends with %v", m)
		}
		if got := x.files(); len(got) != 0 {
			t.Errorf("files %q stay", got)
		}
	})
}
