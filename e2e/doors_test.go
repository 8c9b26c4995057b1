package e2e

import (
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
)

// doorsProperty names the directory of a job's doors.
const doorsProperty = "e2e.doors"

// saltProperty makes the job append a random number to each line, so that another attempt at a
// map emits other records.
const saltProperty = "e2e.salt"

// doored is a job on a cluster that sorts lines. Each map waits at a door of its own until
// the test opens it, and so does each reduce that has a door. A door is a socket named after the
// task, such as m0 and r1. A door without a listener is open.
var doored = mr.New("doored", mr.TextLines(),
	mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, struct{}]) error {
		standAtDoor(t, "m")
		if t.Property(saltProperty) != "" {
			line = fmt.Appendf(nil, "%s/%d", line, rand.Int())
		}
		out.Emit(line, struct{}{})
		return nil
	}),
	mr.ReduceFunc(func(t *mr.Task, line []byte, copies iter.Seq[struct{}], out mr.Emitter[[]byte, struct{}]) error {
		standAtDoor(t, "r")
		for range copies {
			out.Emit(line, struct{}{})
		}
		return nil
	}), mr.TextOutput[[]byte, struct{}]())

// standAtDoor returns when the door of a task is open.
func standAtDoor(t *mr.Task, kind string) {
	conn, err := net.Dial("unix", filepath.Join(t.Property(doorsProperty), kind+strconv.Itoa(t.Part())))
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
	maps      int // the first doors are those of maps, the others those of reduces
	listeners []*net.UnixListener
	waiting   []net.Conn // connection of the task at each door; nil for none
}

// newDoors creates the doors of that many maps, all closed.
func newDoors(t *testing.T, maps int) *doors {
	t.Helper()
	return newDoorsOf(t, maps, 0)
}

// newDoorsOf creates the doors of that many maps and reduces, all closed.
func newDoorsOf(t *testing.T, maps, reduces int) *doors {
	t.Helper()
	dir, err := os.MkdirTemp("", "doors-") // socket names must be short
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &doors{t: t, dir: dir, maps: maps, waiting: make([]net.Conn, maps+reduces)}
	for i := range maps + reduces {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, d.name(i)), Net: "unix"})
		must.Do(t, err)
		d.listeners = append(d.listeners, l)
		t.Cleanup(func() { d.open(i) })
	}
	return d
}

// name returns the name of a door.
func (d *doors) name(i int) string {
	if i >= d.maps {
		return "r" + strconv.Itoa(i-d.maps)
	}
	return "m" + strconv.Itoa(i)
}

// wait returns when the tasks of the given doors wait there.
func (d *doors) wait(doors ...int) {
	d.t.Helper()
	for _, i := range doors {
		must.Do(d.t, d.listeners[i].SetDeadline(time.Now().Add(patience)))
		conn, err := d.listeners[i].Accept()
		if err != nil {
			d.t.Fatalf("%s does not come to its door: %v", d.name(i), err)
		}
		d.waiting[i] = conn
	}
}

// open lets the tasks of doors pass, now and in later attempts.
func (d *doors) open(doors ...int) {
	for _, i := range doors {
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
	must.Do(d.t, err)
	c.program, c.env = self, append(c.env, programEnv+"=doored")
	c.args = append([]string{"--quiet"}, d.args(in, out, args...)...)
	return c
}

// args returns the arguments of the job with these doors and as many maps.
func (d *doors) args(in, out string, args ...string) []string {
	d.t.Helper()
	info, err := os.Stat(in)
	must.Do(d.t, err)
	part := (info.Size() + int64(d.maps) - 1) / int64(d.maps)
	return slices.Concat([]string{"-D", doorsProperty + "=" + d.dir,
		"-D", fmt.Sprintf("mapreduce.input.fileinputformat.split.maxsize=%d", part)}, args, []string{in, out})
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
	open := &doors{t: d.t, dir: d.t.TempDir(), maps: d.maps}
	start(d.t, open.run(command{}, in, dir, args...)).wait(d.t).want(d.t, 0)
	return dir
}
