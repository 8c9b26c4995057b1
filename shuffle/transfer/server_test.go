package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
)

// ask sends one request to a handler, with the token of the job in the path.
func ask(h http.Handler, url string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("Authorization", "Bearer "+JobToken(testKey, jobOf(r.URL.Path)))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestServerSendsRunsAndRanges(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 10_000, 2)
	data, err := os.ReadFile(m.path())
	must.Do(t, err)
	o := m.at("h:1").Output
	for p, runs := range m.index.Partitions {
		if len(runs) < 2 {
			t.Fatalf("%d runs: too few for this test", len(runs))
		}
		for i, run := range runs {
			want := data[run.Offset:][:run.Length]
			w := ask(n.server, o.runURL(p, i))
			if w.Code != http.StatusOK || w.Body.String() != string(want) || w.Header().Get(HeaderRun) != formatRun(run) {
				t.Fatalf("run %d: %d, %d bytes, %q", i, w.Code, w.Body.Len(), w.Header())
			}
			w = ask(n.server, o.runURL(p, i), "Range", "bytes=5-20")
			if w.Code != http.StatusPartialContent || w.Body.String() != string(want[5:21]) {
				t.Fatalf("range of run %d: %d %q", i, w.Code, w.Body)
			}
		}
	}
	w := ask(n.server, o.url("map.out", nil), "Range", "bytes=100-199")
	if w.Code != http.StatusPartialContent || w.Body.String() != string(data[100:200]) {
		t.Fatalf("range of the file: %d %q", w.Code, w.Body)
	}
	if w = ask(n.server, o.url("map.out", nil), "Range", fmt.Sprintf("bytes=%d-", len(data))); w.Code != http.StatusRequestedRangeNotSatisfiable {
		t.Fatalf("range behind the end: %d", w.Code)
	}
	x, err := shuffle.DecodeIndex(ask(n.server, o.indexURL()).Body.Bytes())
	if err != nil || x.Checksum != m.index.Checksum {
		t.Fatalf("index: %v", err)
	}
}

func TestServerRefuses(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1)
	o := m.at("h:1").Output
	secret := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.WriteFile(secret, []byte("nobody is to see this"), 0o644))
	dir := filepath.Dir(m.path())
	must.Do(t, os.Symlink(secret, filepath.Join(dir, "link")))
	must.Do(t, os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	for url, want := range map[string]int{
		o.url("missing", nil):                   http.StatusNotFound,
		o.url("dir", nil):                       http.StatusForbidden,
		o.url("link", nil):                      http.StatusInternalServerError,
		o.runURL(7, 0):                          http.StatusNotFound,
		o.runURL(0, 7):                          http.StatusNotFound,
		"http://h/shuffle/../../etc/passwd":     http.StatusBadRequest,
		"http://h/shuffle/%2e%2e/%2e%2e/passwd": http.StatusBadRequest,
		"http://h/shuffle/job_1_0001/attempt_1_0001_/f?run=1":           http.StatusBadRequest,
		"http://h/shuffle/job_1_9/attempt_1_9_m/none?run=0&partition=0": http.StatusNotFound,
	} {
		if w := ask(n.server, url); w.Code != want || strings.Contains(w.Body.String(), "nobody") {
			t.Errorf("%s: %d %s", url, w.Code, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodPut, o.indexURL(), nil)
	r.Header.Set("Authorization", "Bearer "+testToken)
	w := httptest.NewRecorder()
	if n.server.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("PUT: %d", w.Code)
	}
}

func TestServerRequiresTheToken(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1)
	for _, shown := range []string{"", testToken, "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Basic " + testToken} {
		if w := ask(n.server, m.at("h").Output.indexURL(), "Authorization", shown); w.Code != http.StatusUnauthorized {
			t.Errorf("%q: %d", shown, w.Code)
		}
	}
	if c := n.server.Counts(); c.Denied != 7 || c.Requests != 7 {
		t.Errorf("counts %+v", c)
	}
	open, err := NewServer(ServerConfig{Dirs: n.dirs})
	must.Do(t, err)
	if w := ask(open, m.at("h").Output.indexURL(), "Authorization", ""); w.Code != http.StatusOK {
		t.Errorf("server without a token: %d", w.Code)
	}
}

// slowClient is a client that does not accept its answer until accept is closed.
type slowClient struct {
	*httptest.ResponseRecorder
	began  chan<- struct{}
	accept <-chan struct{}
}

func (h slowClient) WriteHeader(status int) {
	h.began <- struct{}{}
	<-h.accept
	h.ResponseRecorder.WriteHeader(status)
}

func TestServerBoundsStreams(t *testing.T) {
	n := newTestMachine(t, ServerConfig{MaxStreams: 3})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 100, 1)
	url := m.at("h").Output.indexURL()
	began, accept, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	for range 3 {
		go func() {
			r := httptest.NewRequest(http.MethodGet, url, nil)
			r.Header.Set("Authorization", "Bearer "+testToken)
			n.server.ServeHTTP(slowClient{httptest.NewRecorder(), began, accept}, r)
			ended <- struct{}{}
		}()
		<-began
	}
	if w := ask(n.server, url); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("the fourth: %d %v", w.Code, w.Header())
	}
	if c := n.server.Counts(); c.Open != 3 || c.Busy != 1 {
		t.Errorf("counts %+v", c)
	}
	close(accept)
	for range 3 {
		<-ended
	}
	if w := ask(n.server, url); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d", w.Code)
	}
	if c := n.server.Counts(); c.Open != 0 || c.Requests != 5 || c.Bytes < 4*int64(len(m.index.Encode())) {
		t.Errorf("counts %+v", c)
	}
}

func TestServerVerifies(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 10_000, 1)
	o := m.at("h").Output
	judge := func(run int) (v verdict) {
		t.Helper()
		w := ask(n.server, o.verifyURL(0, run))
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
			t.Fatalf("%d %s: %v", w.Code, w.Body, err)
		}
		return v
	}
	if v := judge(1); !v.Good || v.IndexChecksum != m.index.Checksum {
		t.Errorf("sound run: %+v", v)
	}
	flip(t, m.path(), m.index.Partitions[0][1].Offset+40)
	if v := judge(1); v.Good || !strings.Contains(v.Problem, "map.out") {
		t.Errorf("damaged run: %+v", v)
	}
	if v := judge(0); !v.Good {
		t.Errorf("its neighbour: %+v", v)
	}
	if v := judge(-1); !v.Good {
		t.Errorf("its index: %+v", v)
	}
	flip(t, shuffle.IndexPath(m.path()), 20)
	if v := judge(-1); v.Good {
		t.Errorf("damaged index: %+v", v)
	}
	if c := n.server.Counts(); c.Verified != 5 || c.Corrupt != 2 {
		t.Errorf("counts %+v", c)
	}
	if w := ask(n.server, o.url("none", map[string][]string{"verify": {"true"}})); w.Code != http.StatusNotFound {
		t.Errorf("missing file: %d", w.Code)
	}
}

// spyListener counts the bytes that net/http passes to ReadFrom of TCP connections.
type spyListener struct {
	net.Listener
	files, others atomic.Int64 // bytes from files and from other readers
}

type spyConn struct {
	*net.TCPConn
	l *spyListener
}

func (l *spyListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &spyConn{c.(*net.TCPConn), l}, nil
}

func (c *spyConn) ReadFrom(r io.Reader) (int64, error) {
	n, err := c.TCPConn.ReadFrom(r)
	count := &c.l.others
	if limited, ok := r.(*io.LimitedReader); ok {
		if _, ok := limited.R.(*os.File); ok {
			count = &c.l.files
		}
	}
	count.Add(n)
	return n, err
}

// TestServerSendsByTheKernel checks that runs reach ReadFrom as an io.LimitedReader of an
// os.File. Go uses sendfile only for that.
func TestServerSendsByTheKernel(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	m := n.write(t, rand.New(rand.NewPCG(1, 1)), 0, 30_000, 1)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	l := &spyListener{Listener: tcp}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- n.server.Serve(ctx, l) }()
	f := newFetcher(t, FetcherConfig{})
	in := newIntake(t, 1<<20)
	runs, err := f.Fetch(context.Background(), m.at(tcp.Addr().String()), in)
	must.Do(t, err)
	f.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	total := int64(0)
	for _, r := range runs {
		total += r.Length
	}
	// net/http itself writes the first bytes of an answer together with its header.
	if files := l.files.Load(); files < total-int64(len(runs))*512 || l.others.Load() > 0 {
		t.Errorf("%d of %d bytes sent from the file itself, %d from other readers", files, total, l.others.Load())
	}
	if readIntake(t, in) != readHere(t, 0, m) {
		t.Error("the runs read otherwise here")
	}
}

func TestServerNeedsADirectory(t *testing.T) {
	if _, err := NewServer(ServerConfig{}); err == nil {
		t.Error("a server of no directories")
	}
}

// TestMissingDirectoryHidesNothing removes one of two directories and restores it. Files
// of the other directory are served throughout.
func TestMissingDirectoryHidesNothing(t *testing.T) {
	n := newTestMachine(t, ServerConfig{})
	want := func(index, status int) {
		t.Helper()
		name := fmt.Sprintf("%s%s/attempt_1_0001_m_000000_0/file%d", Prefix, testJob, index)
		if w := ask(n.server, name); w.Code != status {
			t.Errorf("file of directory %d: %d, want %d", index, w.Code, status)
		}
	}
	for i, dir := range n.dirs {
		attempt := filepath.Join(dir, testJob, taskdir.InJob("attempt_1_0001_m_000000_0"))
		must.Do(t, errors.Join(os.MkdirAll(attempt, 0o755), os.WriteFile(fmt.Sprintf("%s/file%d", attempt, i), []byte("x"), 0o600)))
	}
	must.Do(t, os.Rename(n.dirs[0], n.dirs[0]+".away"))
	want(0, http.StatusNotFound)
	want(1, http.StatusOK)
	if err := os.WriteFile(n.dirs[0], nil, 0o600); err != nil { // a file instead of a directory
		t.Fatal(err)
	}
	want(0, http.StatusInternalServerError)
	want(1, http.StatusOK)
	if c := n.server.Counts(); c.Failed != 1 {
		t.Errorf("%d requests failed, want 1", c.Failed)
	}
	must.Do(t, errors.Join(os.Remove(n.dirs[0]), os.Rename(n.dirs[0]+".away", n.dirs[0])))
	want(0, http.StatusOK)
}

// bigFile creates a file of zeros that is larger than any socket buffer. It returns the
// file's URL path.
func bigFile(t *testing.T, n *testMachine) string {
	t.Helper()
	dir := filepath.Join(n.dirs[1], testJob, "attempt_1_0001_m_000000_0")
	must.Do(t, os.MkdirAll(dir, 0o755))
	f, err := os.Create(filepath.Join(dir, "big"))
	must.Do(t, err)
	must.Do(t, errors.Join(f.Truncate(1<<30), f.Close()))
	return Prefix + testJob + "/attempt_1_0001_m_000000_0/big"
}

// askAndWait requests a file and reads only the start of the answer. The caller closes the
// returned connection.
func askAndWait(t *testing.T, address, path string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	must.Do(t, err)
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer %s\r\n\r\n", path, testToken); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 15)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestServerDropsClientsThatTakeNothing checks that a stream ends after IdleTimeout if its
// client reads nothing.
func TestServerDropsClientsThatTakeNothing(t *testing.T) {
	n := newTestMachine(t, ServerConfig{IdleTimeout: 50 * time.Millisecond})
	ended := make(chan struct{})
	address := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.server.ServeHTTP(w, r)
		close(ended)
	}))
	conn := askAndWait(t, address, bigFile(t, n))
	defer conn.Close()
	<-ended
	if c := n.server.Counts(); c.Open != 0 || c.Bytes == 0 || c.Bytes == 1<<30 {
		t.Errorf("counts %+v", c)
	}
}

// TestServeEnds checks that Serve returns when its context ends, even while a client does
// not read its answer.
func TestServeEnds(t *testing.T) {
	n := newTestMachine(t, ServerConfig{IdleTimeout: 50 * time.Millisecond})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- n.server.Serve(ctx, l) }()
	conn := askAndWait(t, l.Addr().String(), bigFile(t, n))
	defer conn.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := n.server.Serve(context.Background(), l); err == nil {
		t.Error("no error from a listener that is closed")
	}
}
