package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// watchers are clients that follow a topic as pages do: each has a stream, opens another one a second
// after it has ended, and fetches the fragment of its page when the server names a change. Each has
// signed in, since the streams of a session are bounded.
type watchers struct {
	t       *testing.T
	token   string
	path    string // of the page
	topics  string
	cancel  context.CancelFunc
	running sync.WaitGroup

	events  atomic.Int64 // that name a change
	opened  atomic.Int64 // streams
	fetched atomic.Int64 // bytes of fragments as they are sent, which is compressed
	all     []*watcher

	expected atomic.Pointer[sighting]
}

// sighting has the times at which watchers first had a page with a text.
type sighting struct {
	text string
	mu   struct {
		sync.Mutex
		times []time.Time
	}
}

// look notes the page of a watcher that has not noted the text yet.
func (w *watcher) look(page string, at time.Time) {
	s := w.expected.Load()
	if s == w.found || !strings.Contains(page, s.text) {
		return
	}
	w.found = s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.times = append(s.mu.times, at)
}

// watcher is one client.
type watcher struct {
	*watchers
	address string
	http    http.Client
	last    string // id of the last event
	tag     string // of the last fragment
	found   *sighting

	mu struct {
		sync.Mutex
		page string    // last fragment
		at   time.Time // when it came
	}
}

// idleConnection is how long a watcher keeps a connection that it does not use.
const idleConnection = 5 * time.Second

// watch starts a number of watchers of a page at each of some servers. They end with the test.
func (e *engine) watch(path, topics string, number int, addresses ...string) *watchers {
	e.t.Helper()
	token, err := os.ReadFile(filepath.Join(e.dir, localcluster.TokenFile))
	must.Do(e.t, err)
	ctx, cancel := context.WithCancel(e.t.Context())
	w := &watchers{t: e.t, token: strings.TrimSpace(string(token)), path: path, topics: topics, cancel: cancel}
	for _, address := range addresses {
		for i := range number {
			jar, err := cookiejar.New(nil)
			must.Do(e.t, err)
			machine := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i/100))}}
			each := &watcher{watchers: w, address: address, http: http.Client{Jar: jar, Transport: &http.Transport{DialContext: machine.DialContext, DisableCompression: true, IdleConnTimeout: idleConnection}}}
			each.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			w.all = append(w.all, each)
			w.running.Go(func() { each.run(ctx) })
		}
	}
	e.t.Cleanup(w.stop)
	return w
}

// stop ends all watchers.
func (w *watchers) stop() {
	w.cancel()
	w.running.Wait()
}

// seen returns how many watchers have a page with a text.
func (w *watchers) seen(text string) (n int) {
	for _, each := range w.all {
		if page, _ := each.shown(); strings.Contains(page, text) {
			n++
		}
	}
	return n
}

// shown returns the page that a watcher has, and when it came.
func (w *watcher) shown() (page string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.page, w.mu.at
}

func (w *watcher) run(ctx context.Context) {
	defer w.http.CloseIdleConnections()
	signedIn := false
	for ctx.Err() == nil {
		if signedIn = signedIn || w.signIn(ctx); signedIn {
			w.follow(ctx)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// signIn reports whether the server has given a session.
func (w *watcher) signIn(ctx context.Context) bool {
	form := url.Values{"token": {w.token}, "to": {"/"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+w.address+"/login", strings.NewReader(form.Encode()))
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := w.http.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusSeeOther
}

// get sends a request. The caller closes the body.
func (w *watcher) get(ctx context.Context, path string, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.address+path, nil)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return w.http.Do(r)
}

// follow reads a stream until it ends.
func (w *watcher) follow(ctx context.Context) {
	answer, err := w.get(ctx, "/api/v1/watch?topics="+url.QueryEscape(w.topics)+"&after="+url.QueryEscape(w.last), "Accept", "text/event-stream")
	if err != nil {
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return
	}
	w.opened.Add(1)
	lines, event := bufio.NewScanner(answer.Body), ""
	for lines.Scan() {
		switch name, value, _ := strings.Cut(lines.Text(), ": "); {
		case name == "event":
			event = value
		case name == "id":
			w.last = value
		case lines.Text() == "" && event != "":
			if event != "hello" {
				w.events.Add(1)
			}
			if event != "hello" || w.tag == "" {
				w.fetch(ctx)
			}
			event = ""
		}
	}
}

// fetch reads the fragment of the page.
func (w *watcher) fetch(ctx context.Context) {
	answer, err := w.get(ctx, w.path, "Hammr-Fragment", "1", "If-None-Match", w.tag, "Accept-Encoding", "gzip")
	if err != nil {
		return
	}
	defer answer.Body.Close()
	sent, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return
	}
	w.fetched.Add(int64(len(sent)))
	text, err := unzipped(sent)
	if err != nil {
		w.t.Errorf("%s of %s: %v", w.path, w.address, err)
		return
	}
	page := string(text)
	w.tag = answer.Header.Get("ETag")
	at := time.Now()
	w.look(page, at)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.page, w.mu.at = page, at
}

// unzipped returns the text of a compressed answer.
func unzipped(sent []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// cpuOf returns the CPU time that a process has used.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	fields := statFields("/proc/" + strconv.Itoa(pid) + "/stat")
	if len(fields) < 13 {
		t.Fatalf("process %d has ended", pid)
	}
	user, err := strconv.Atoi(fields[11])
	must.Do(t, err)
	system, err := strconv.Atoi(fields[12])
	must.Do(t, err)
	return time.Duration(user+system) * (time.Second / 100) // ticks of all Linux machines
}
