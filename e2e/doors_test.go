package e2e

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/mr"
)

// doorsProperty names the directory of a job's doors.
const doorsProperty = "e2e.doors"

// saltProperty makes the job append a random number to each line, so that another attempt at a
// map emits other records.
const saltProperty = "e2e.salt"

// doored is a job on a cluster that sorts lines. Each map waits at a door of its own until
// the test opens it. A door is a socket named after the number of the map. A door without a
// listener is open.
var doored = mr.New("doored", mr.TextLines(),
	mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, struct{}]) error {
		standAtDoor(filepath.Join(t.Property(doorsProperty), strconv.Itoa(t.Part())))
		if t.Property(saltProperty) != "" {
			line = fmt.Appendf(nil, "%s/%d", line, rand.Int())
		}
		out.Emit(line, struct{}{})
		return nil
	}),
	mr.ReduceFunc(func(_ *mr.Task, line []byte, copies iter.Seq[struct{}], out mr.Emitter[[]byte, struct{}]) error {
		for range copies {
			out.Emit(line, struct{}{})
		}
		return nil
	}), mr.TextOutput[[]byte, struct{}]())

// standAtDoor returns when the door is open.
func standAtDoor(door string) {
	conn, err := net.Dial("unix", door)
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.ReadAll(conn) // any end of the connection opens the door
}

// doors is the test's side of the doors.
type doors struct {
	t         *testing.T
	dir       string
	listeners []*net.UnixListener
	waiting   []net.Conn // connection of the map at each door; nil for none
}

// newDoors creates that many doors, all closed.
func newDoors(t *testing.T, n int) *doors {
	t.Helper()
	dir, err := os.MkdirTemp("", "doors-") // socket names must be short
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &doors{t: t, dir: dir, waiting: make([]net.Conn, n)}
	for i := range n {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, strconv.Itoa(i)), Net: "unix"})
		must(t, err)
		d.listeners = append(d.listeners, l)
		t.Cleanup(func() { d.open(i) })
	}
	return d
}

// wait returns when the given maps wait at their doors.
func (d *doors) wait(maps ...int) {
	d.t.Helper()
	for _, i := range maps {
		must(d.t, d.listeners[i].SetDeadline(time.Now().Add(patience)))
		conn, err := d.listeners[i].Accept()
		if err != nil {
			d.t.Fatalf("map %d does not come to its door: %v", i, err)
		}
		d.waiting[i] = conn
	}
}

// open lets maps pass, now and in later attempts.
func (d *doors) open(maps ...int) {
	for _, i := range maps {
		d.listeners[i].Close()
		if d.waiting[i] != nil {
			d.waiting[i].Close()
		}
	}
}

// run returns a command that runs the job with these doors and as many maps.
func (d *doors) run(c command, in, out string, args ...string) command {
	d.t.Helper()
	self, err := os.Executable()
	must(d.t, err)
	info, err := os.Stat(in)
	must(d.t, err)
	part := (info.Size() + int64(len(d.listeners)) - 1) / int64(len(d.listeners))
	c.program, c.env = self, append(c.env, programEnv+"=doored")
	c.args = append([]string{"--quiet", "-D", doorsProperty + "=" + d.dir,
		"-D", fmt.Sprintf("mapreduce.input.fileinputformat.split.maxsize=%d", part)}, append(args, in, out)...)
	return c
}

// submit submits the job and does not wait for it.
func (d *doors) submit(e *engine, in, out string, args ...string) (jobID string) {
	d.t.Helper()
	r := start(d.t, d.run(e.command(), in, out, append(args, "--detach")...)).wait(d.t)
	r.want(d.t, 0)
	return strings.TrimSpace(r.stdout)
}

// peace returns the output of the job in one process, with all doors open.
func (d *doors) peace(in string, args ...string) (dir string) {
	d.t.Helper()
	dir = filepath.Join(d.t.TempDir(), "want")
	open := &doors{t: d.t, dir: d.t.TempDir(), listeners: d.listeners}
	start(d.t, open.run(command{}, in, dir, args...)).wait(d.t).want(d.t, 0)
	return dir
}
