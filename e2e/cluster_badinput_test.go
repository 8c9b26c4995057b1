package e2e

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	connectrpc "connectrpc.com/connect"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// stillWorks runs a job on the cluster to check that the earlier input did no damage.
func (e *engine) stillWorks() {
	e.t.Helper()
	out := filepath.Join(e.t.TempDir(), "out")
	e.done("run", "wordcount", "--quiet", newFile(e.t, "in", []byte("a b a\n")), out)
	wantSame(e.t, parts(e.t, out, 1), []byte("a\t2\nb\t1\n"))
}

// log returns the log of a daemon of the cluster.
func (e *engine) log(name string) string {
	e.t.Helper()
	return string(readFile(e.t, filepath.Join(e.dir, "logs", name+".log")))
}

// TestOtherVersions connects a client and a tasknode to a master of a later version, and a
// later client to a master.
func TestOtherVersions(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	refuse := connectrpc.NewErrorWriter()
	var calls atomic.Int64
	later := rpc.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		w.Header().Set(rpc.HeaderProtocol, "99")
		_ = refuse.Write(w, r, rpc.Refuse(wire.Refusal_PROTOCOL, "99", "protocol version "+rpc.Protocol.String()+", not 99")) // the client reports
	}), nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	go later.Serve(l)
	t.Cleanup(func() { later.Close() })
	text := l.Addr().String() + ": the master speaks protocol version 99, this program " + rpc.Protocol.String() + "; use programs of the same release"
	in, out := newFile(t, "in", []byte("a\n")), filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{
		{"node", "list", "--master", l.Addr().String()},
		{"run", "wordcount", "--master", l.Addr().String(), in, out},
	} {
		r := start(t, e.command(args...)).wait(t)
		r.want(t, 1, text)
		r.atOnce(t)
	}
	// A tasknode keeps its tasks and tries again: the masters may be upgraded one after the other.
	calls.Store(0)
	tasknode := start(t, e.daemon("tasknode", "--name", "n9", "--masters", l.Addr().String(), "--dir", t.TempDir(), "--address", "127.0.0.1:0",
		"--http", "127.0.0.1:0", "--token-file", filepath.Join(e.dir, localcluster.TokenFile)))
	waitUntil(t, "the tasknode has called the master again", func() bool { return calls.Load() > 1 })
	must.Do(t, tasknode.cmd.Process.Signal(syscall.SIGTERM))
	tasknode.wait(t).want(t, 0, text)
	request, err := http.NewRequest(http.MethodPost, "http://"+e.state.Masters[0].Address+"/hammr.v1.Jobmaster/GetInfo", strings.NewReader("{}"))
	must.Do(t, err)
	request.Header.Set("Content-Type", "application/json")
	rpc.SetHeaders(request.Header, "any", "")
	request.Header.Set(rpc.HeaderProtocol, "99")
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	must.Do(t, err)
	var body bytes.Buffer
	_, err = body.ReadFrom(answer.Body)
	must.Do(t, errors.Join(err, answer.Body.Close()))
	if want := `protocol version \"99\", not ` + rpc.Protocol.String(); !strings.Contains(body.String(), want) {
		t.Errorf("a later client is told %s, want %s", body.String(), want)
	}
}

// TestGarbage sends malformed data to every port of a cluster.
func TestGarbage(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, threeMasters)
	var ports []string
	for _, m := range e.state.Masters {
		ports = append(ports, m.Address, m.HTTP)
	}
	ports = append(ports, e.state.Tasknodes[0].Address, e.state.Tasknodes[0].HTTP)
	concurrently(t, func(run subtest) {
		for _, port := range ports {
			run(port, func(t *testing.T) {
				for _, words := range garbage() {
					say(t, port, words)
				}
			})
		}
	})
	for _, d := range []string{"m1", "m2", "m3", "n1"} {
		if text := e.log(d); strings.Contains(text, "panic") {
			t.Errorf("%s:\n%s", d, text)
		}
	}
	for _, m := range e.state.Masters {
		if !e.running(m.PID) {
			t.Errorf("%s is gone", m.ID)
		}
	}
	e.stillWorks()
}

// garbage returns noise, messages of other protocols, and valid messages followed by noise.
func garbage() [][]byte {
	noise := make([]byte, 64<<10)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	return [][]byte{
		noise, append([]byte{0}, noise...), []byte("hello\r\n\r\n"), []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), []byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
		[]byte("SSH-2.0-x\r\n"), append([]byte(preface), noise...), append([]byte(preface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"), noise...),
		append([]byte("POST /hammr.v1.Tasknodes/Attend HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n"), noise...),
		append([]byte("POST /channel/job_1_0001/0/0/1/0/0/0?wait=1h HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n"), noise...),
	}
}

// say sends data to a port, which is all that it sends, and reads the answer for a while.
func say(t *testing.T, port string, words []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", port)
	must.Do(t, err)
	defer conn.Close()
	must.Do(t, conn.SetDeadline(time.Now().Add(500*time.Millisecond)))
	_, _ = conn.Write(words) // the other side may close the connection first
	_ = conn.(*net.TCPConn).CloseWrite()
	_, _ = bytes.NewBuffer(nil).ReadFrom(conn)
}

// TestOversizedJobs submits jobs beyond the limits. The client rejects them, and so
// does the master if a client does not.
func TestOversizedJobs(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	before := len(e.jobs(true))
	large := strings.Repeat("x", 64<<20)
	file := func(name string, size int) string {
		text := "<configuration><property><name>my." + name + "</name><value>" + large[:size] + "</value></property></configuration>"
		return newFile(t, name+".xml", []byte(text))
	}
	out := filepath.Join(t.TempDir(), "out")
	start(t, e.command("run", "wordcount", "-conf", file("large", 64<<20), "/etc/hostname", out)).wait(t).want(t, 2, "large.xml:1: file is longer than 4194304 bytes")
	start(t, e.command("run", "wordcount", "-conf", file("a", 3<<20), "-conf", file("b", 3<<20), "-conf", file("c", 3<<20), "/etc/hostname", out)).wait(t).want(t, 1,
		"configuration and properties of the job: 9.0 MiB, more than the 8 MiB that hammr.limits.spec.bytes allows at most; give large data to tasks as side files (-files)")
	if _, err := os.Stat(out); err == nil {
		t.Error("the output directory was made")
	}
	token, err := e.cluster.Token()
	must.Do(t, err)
	masters, err := rpc.New(rpc.Config{Masters: e.state.Addresses(), Token: token})
	must.Do(t, err)
	t.Cleanup(func() { masters.Close() })
	for _, size := range []int{16 << 20, 64 << 20} {
		spec := &wire.JobSpec{Name: "large", ClientId: "c", Properties: map[string]string{"my.list": large[:size]}}
		_, err := rpc.Call(t.Context(), masters, (*rpc.Master).Submit, &wire.SubmitRequest{Spec: spec})
		if err == nil {
			t.Errorf("a job of %d bytes is taken", size)
		}
	}
	if jobs := e.jobs(true); len(jobs) != before {
		t.Errorf("there were %d jobs, and now there are %d", before, len(jobs))
	}
	e.stillWorks()
}

// TestUnknownPolicy names an unknown policy wherever a policy can be named.
func TestUnknownPolicy(t *testing.T) {
	t.Parallel()
	e := sharedEngine(t, oneOfEach)
	const text = `policy "lottery": not one of`
	start(t, e.command("scheduler", "set", "lottery")).wait(t).want(t, 1, text)
	master := func(flags ...string) result {
		return start(t, command{args: append([]string{"jobmaster", "--id", "m1", "--dir", t.TempDir(), "--address", "127.0.0.1:0",
			"--http", "127.0.0.1:0", "--token-file", filepath.Join(e.dir, localcluster.TokenFile)}, flags...)}).wait(t)
	}
	master("--policy", "lottery").want(t, 1, text)
	master("--pools", "a b").want(t, 1, `pool "a b": a name of letters, digits`)
	e.done("scheduler", "set", "fifo")
	if shown := e.done("scheduler", "show").stdout; shown != "Scheduling policy fifo\n" {
		t.Errorf("shown as %q", shown)
	}
	e.stillWorks()
}

// TestNoLeader stops the majority of the masters while a job runs. Commands wait for their
// time-out and report the cause. When the majority is back, the job continues.
func TestNoLeader(t *testing.T) {
	t.Parallel()
	j := startSlowJob(t, newEngine(t, "--masters", "3", "--tasknodes", "2"))
	for _, m := range j.state.Masters[1:] {
		must.Do(t, j.cluster.Kill(t.Context(), m.ID))
	}
	var waiting []*process // all at once, since they mostly wait
	for _, args := range [][]string{
		{"run", "wordcount", "-D", "hammr.client.timeout=3s", "/etc/hostname", filepath.Join(t.TempDir(), "out")},
		{"submit", "wordcount", "-D", "hammr.client.timeout=3s", "/etc/hostname", filepath.Join(t.TempDir(), "out")},
		{"job", "kill", j.id, "--timeout", "3s"},
		{"job", "wait", j.id, "--timeout", "3s"},
		{"node", "remove", "n1", "--timeout", "3s"},
	} {
		waiting = append(waiting, start(t, j.command(args...)))
	}
	for _, p := range waiting {
		p.wait(t).want(t, 1, "no leading master found in 3", "waiting up to 3s")
	}
	must.Do(t, j.cluster.Start(t.Context(), "m2", "m3"))
	if again := j.succeeds(t); again != 0 {
		t.Errorf("%d attempts were made again", again)
	}
	if jobs := j.done("job", "list", "--all").stdout; !strings.Contains(jobs, "Total jobs:1\n") {
		t.Errorf("jobs that nobody was told of:\n%s", jobs)
	}
}
