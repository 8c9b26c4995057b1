package e2e

import (
	"io"
	"iter"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
)

// gateEnv is PHASE:BYTES:SOCKET. A task of the phase that has processed that many bytes
// connects to the socket and waits until the other end closes the connection.
const gateEnv = "HAMMR_E2E_GATE"

func gateAddress() string { return os.Getenv(gateEnv) }

// doorway is the program's side of the gate. The first task that reaches the gate connects
// to the socket; all tasks that reach it wait.
type doorway struct {
	phase  string
	bytes  int
	socket string
	once   sync.Once
	err    error
}

func newDoorway(address string) *doorway {
	fields := strings.SplitN(address, ":", 3)
	bytes, err := strconv.Atoi(fields[1])
	return &doorway{phase: fields[0], bytes: bytes, socket: fields[2], err: err}
}

func (d *doorway) pass(phase string, bytes int) error {
	if phase != d.phase || bytes < d.bytes || d.err != nil {
		return d.err
	}
	d.once.Do(d.knock)
	return d.err
}

func (d *doorway) knock() {
	conn, err := net.Dial("unix", d.socket)
	if err != nil {
		d.err = err
		return
	}
	defer conn.Close()
	if _, err := io.ReadAll(conn); err != nil {
		d.err = err
	}
}

// gatedProgram sorts lines. Its tasks stop at the gate: a map before the record at which it
// has read that many bytes, a reduce when it has written them.
func gatedProgram() *mr.Program {
	d := newDoorway(gateAddress())
	job := mr.New("gated", mr.TextLines(), &gatedMapper{door: d}, &gatedReducer{door: d}, mr.TextOutput[[]byte, struct{}]()).
		TotalOrder().Set("textinputformat.record.delimiter", "\n")
	return &mr.Program{Name: "gated", Jobs: []mr.Runnable{job}}
}

type gatedMapper struct {
	door *doorway
}

func (m *gatedMapper) Map(t *mr.Task, offset int64, line []byte, out mr.Emitter[[]byte, struct{}]) error {
	if err := m.door.pass("map", int(offset)); err != nil {
		return err
	}
	out.Emit(line, struct{}{})
	return nil
}

type gatedReducer struct {
	door *doorway
	seen int
}

func (r *gatedReducer) Reduce(t *mr.Task, line []byte, copies iter.Seq[struct{}], out mr.Emitter[[]byte, struct{}]) error {
	for range copies {
		if err := r.door.pass("reduce", r.seen); err != nil {
			return err
		}
		out.Emit(line, struct{}{})
		r.seen += len(line) + 1
	}
	return nil
}

// gate is the test's side of the gate.
type gate struct {
	listener *net.UnixListener
	waiting  net.Conn
	address  string
}

// newGate creates a gate for tasks of the phase ("map", "reduce") that have processed that
// many bytes.
func newGate(t *testing.T, phase string, bytes int) *gate {
	t.Helper()
	dir, err := os.MkdirTemp("", "gate-") // socket names must be short
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	must.Do(t, err)
	g := &gate{listener: l, address: phase + ":" + strconv.Itoa(bytes) + ":" + socket}
	t.Cleanup(g.open)
	return g
}

// start starts the gated program with args.
func (g *gate) start(t *testing.T, args ...string) *process {
	t.Helper()
	p := g.prepare(t, args...)
	p.begin(t)
	return p
}

// prepare returns the gated program, not started yet.
func (g *gate) prepare(t *testing.T, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	return prepare(t, command{program: self, args: args, env: []string{gateEnv + "=" + g.address}})
}

// wait returns when a task waits at the gate.
func (g *gate) wait(t *testing.T, p *process) {
	t.Helper()
	g.listener.SetDeadline(time.Now().Add(patience))
	conn, err := g.listener.Accept()
	if err != nil {
		p.cmd.Process.Kill()
		t.Fatalf("no task comes to the gate: %v\n%s", err, p.waitOnly(t).stderr)
	}
	g.waiting = conn
}

// open lets the tasks continue.
func (g *gate) open() {
	g.listener.Close()
	if g.waiting != nil {
		g.waiting.Close()
	}
}
