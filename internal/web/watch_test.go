package web

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/must"
)

// changingSource is a fake whose jobs change. It counts the questions about them.
type changingSource struct {
	*fakeSource
	version   atomic.Int64
	suspended atomic.Bool
	questions atomic.Int64
}

func newChanging() *changingSource {
	f := newFake("wordcount")
	s := &changingSource{fakeSource: f}
	docs.Serve(f.table, docs.Jobs, s.changingJobs)
	docs.Serve(f.table, docs.Job, s.changingJob)
	return s
}

func (s *changingSource) changingJobs(_ context.Context, q docs.JobQuery) (docs.Answer[docs.JobPage], error) {
	s.questions.Add(1)
	jobs := []apidoc.Job{{JobID: aJob, Name: fmt.Sprint("version ", s.version.Load()), State: "RUNNING", Suspended: s.suspended.Load()}}
	page, err := docs.SelectJobs(jobs, q, "1763700000000")
	return docs.Answer[docs.JobPage]{Value: page, At: time.UnixMilli(atMillis)}, err
}

func (s *changingSource) changingJob(_ context.Context, q docs.JobID) (docs.Answer[report.Report], error) {
	return docs.Answer[report.Report]{Value: report.Report{JobID: q.Job, Name: fmt.Sprint("version ", s.version.Load()), State: report.Running}, At: time.UnixMilli(atMillis)}, nil
}

// handler serves the pages of a source. Its hub asks often.
func (s *changingSource) handler(t testing.TB) http.Handler {
	pages, _ := s.pages(t, 20*time.Millisecond)
	return pages
}

// pages serves the pages of a source, whose hub asks once in an interval.
func (s *changingSource) pages(t testing.TB, interval time.Duration) (http.Handler, *hub) {
	gate := gateOf(t)
	h := New(Config{Source: s, Gate: gate, Name: "master m1"})
	h.hub.interval = interval
	return gate.Handler(h), h.hub
}

// watchedJobs serves the pages of a source whose list of jobs a client watches. The source changes only by change,
// which returns when the client has the event.
func watchedJobs(t *testing.T) (s *changingSource, pages http.Handler, change func()) {
	s = newChanging()
	pages, h := s.pages(t, time.Hour)
	events, stop := follow(t, newServer(t, pages), "topics=jobs", "")
	t.Cleanup(stop)
	next(events)
	return s, pages, func() {
		t.Helper()
		s.version.Add(1)
		h.update(t.Context(), []string{"jobs"})
		if e := next(events); e.name != "change" {
			t.Fatalf("no change: %+v", e)
		}
	}
}

// newServer starts a server, which the test stops.
func newServer(t testing.TB, handler http.Handler) *httptest.Server {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// event is one event of a stream.
type event struct{ name, id, data string }

// follow reads a stream. The result yields its events until the stream ends.
func follow(t testing.TB, server *httptest.Server, query, last string) (events <-chan event, stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/v1/watch?"+query, nil)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+aToken)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := server.Client().Do(r)
	must.Do(t, err)
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		t.Fatalf("status %d: %s", answer.StatusCode, text)
	}
	out := make(chan event, 100)
	go func() {
		defer close(out)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		var e event
		for lines.Scan() {
			switch name, value, _ := strings.Cut(lines.Text(), ": "); name {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			case "":
				out <- e
				e = event{}
			}
		}
	}()
	return out, cancel
}

// next returns the next event of a stream, the zero value after its end.
func next(events <-chan event) event { return <-events }

// TestWatchersContinueAtAnyMaster follows a cluster through two servers of the same source.
func TestWatchersContinueAtAnyMaster(t *testing.T) {
	s := newChanging()
	first, second := newServer(t, s.handler(t)), newServer(t, s.handler(t))
	events, stop := follow(t, first, "topics=jobs,masters", "")
	hello := next(events)
	if hello.name != "hello" || hello.id == "" || hello.data != `{"topics":[]}` {
		t.Fatalf("first event %+v", hello)
	}
	s.version.Add(1)
	change := next(events)
	if change.name != "change" || change.id == hello.id || change.data != `{"topics":["jobs"]}` {
		t.Fatalf("after a change: %+v", change)
	}
	stop()
	events, stop = follow(t, second, "topics=masters,jobs", change.id)
	if e := next(events); e.name != "hello" || e.id != change.id {
		t.Errorf("at another master without a change: %+v, want id %s", e, change.id)
	}
	stop()
	s.version.Add(1)
	events, stop = follow(t, first, "topics=jobs,masters&after="+change.id, "")
	defer stop()
	e := next(events)
	if e.name == "hello" { // the server knew only the state before the change
		e = next(events)
	}
	if e.name != "reset" && e.name != "change" || !strings.Contains(e.data, `"jobs"`) {
		t.Errorf("after a change that no watcher has seen: %+v", e)
	}
}

func TestWatchRefusesWrongTopics(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	for _, topics := range []string{"", "job", "jobs/x", "weather", "jobs,,nodes", "job/1,job/2,job/3,job/4,job/5,job/6,job/7,job/8,job/9"} {
		if w := request(h, "/api/v1/watch?topics="+topics, nil); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"parameter":"topics"`) {
			t.Errorf("%q: status %d: %s", topics, w.Code, w.Body)
		}
	}
}

// TestStreamsEnd ends streams by their clients, by the server and by changed rights.
func TestStreamsEnd(t *testing.T) {
	s := newChanging()
	gate := gateOf(t)
	meters := NewMeters()
	h := New(Config{Source: s, Gate: gate, Name: "m1", Meters: meters})
	server := newServer(t, gate.Handler(h))
	open := func(n int) (all []<-chan event, stop func()) {
		var stops []func()
		for range n {
			events, stop := follow(t, server, "topics=jobs", "")
			if e := next(events); e.name != "hello" {
				t.Fatalf("first event %+v", e)
			}
			all, stops = append(all, events), append(stops, stop)
		}
		return all, func() {
			for _, stop := range stops {
				stop()
			}
		}
	}
	const streams = 8 // more than one session may have, if those that have ended counted
	for range 5 {
		_, stop := open(streams)
		if n := meters.Watchers.Load(); n != streams || h.hub.watching() != streams {
			t.Errorf("%d watchers, want %d", n, streams)
		}
		stop()
		h.hub.joined.Wait()
		if n := meters.Watchers.Load(); h.hub.watching() != 0 {
			t.Errorf("%d watchers after all have disconnected", n)
		}
	}
	all, stop := open(streams)
	defer stop()
	must.Do(t, h.Close())
	for _, events := range all {
		if e, more := <-events; more {
			t.Errorf("event %+v of a server that stops", e)
		}
	}
	if w := request(gate.Handler(h), "/api/v1/watch?topics=jobs", nil); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a stream of a server that stops: status %d", w.Code)
	}
}

// TestStreamsNeedTheirConnections asks for a stream by a server that has none to give, as HTTP/2 has.
func TestStreamsNeedTheirConnections(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	head := httptest.NewRequest(http.MethodHead, "http://localhost/api/v1/watch?topics=jobs", nil)
	head.Header.Set("Authorization", "Bearer "+aToken)
	only := httptest.NewRecorder()
	if h.ServeHTTP(only, head); only.Code != http.StatusOK || !strings.HasPrefix(only.Header().Get("Content-Type"), "text/event-stream") {
		t.Errorf("HEAD: status %d, headers %v", only.Code, only.Header())
	}
	if w := request(h, "/api/v1/watch?topics=jobs", nil); w.Code != http.StatusHTTPVersionNotSupported || !strings.Contains(w.Body.String(), "HTTP/1.1") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// TestHubAsksOnceForAll watches one topic many times and checks how often the source is asked.
func TestHubAsksOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newChanging()
		h := newHub(s)
		var all []*watcher
		for range maxWatchers {
			w, err := h.join(t.Context(), []string{"jobs"})
			must.Do(t, err)
			all = append(all, w)
		}
		if _, err := h.join(t.Context(), []string{"jobs"}); err == nil {
			t.Error("there is no bound")
		}
		if n := s.questions.Load(); n != 1 {
			t.Errorf("%d questions at the start, want 1", n)
		}
		for range 5 { // no watcher has a connection: five changes are one
			s.version.Add(1)
			time.Sleep(watchInterval)
			synctest.Wait()
		}
		if n := s.questions.Load(); n != 6 {
			t.Errorf("%d questions in 5 s, want 6", n)
		}
		for _, w := range all {
			if changed, _ := h.take(w); len(changed) != 1 || changed[0] != "jobs" {
				t.Fatalf("changed: %v", changed)
			}
			h.leave(w)
		}
		asked := s.questions.Load()
		time.Sleep(time.Minute)
		if n := s.questions.Load(); n != asked || h.watching() != 0 || len(h.mu.prints) != 0 {
			t.Errorf("%d questions in a minute without watchers, %d watchers", n-asked, h.watching())
		}
	})
}

// TestHubForgetsAnswersThatFail checks that a topic without an answer counts as unchanged.
func TestHubForgetsAnswersThatFail(t *testing.T) {
	f := newFake("wordcount")
	h := newHub(f)
	w, err := h.join(t.Context(), []string{"nodes"})
	must.Do(t, err)
	defer h.leave(w)
	_, before := h.take(w)
	f.err = docs.ErrUnavailable
	h.update(t.Context(), []string{"nodes"})
	f.err, f.stale = nil, nil
	h.update(t.Context(), []string{"nodes"})
	if changed, id := h.take(w); changed != nil || id != before {
		t.Errorf("after an answer that failed: %v, id %s, was %s", changed, id, before)
	}
	f.stale = docs.ErrUnavailable
	h.update(t.Context(), []string{"nodes"})
	if changed, _ := h.take(w); len(changed) != 1 {
		t.Error("pages do not learn that the answer is old")
	}
}

// fragmentOf asks for the fragment of a page.
func fragmentOf(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	r.Header.Set("Authorization", "Bearer "+aToken)
	r.Header.Set(fragmentHeader, "1")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestFragmentsArePartsOfTheirPages compares fragments of all live pages with the pages.
func TestFragmentsArePartsOfTheirPages(t *testing.T) {
	h := newHandler(t, newFake("wordcount"))
	n := 0
	for _, rt := range Routes() {
		if rt.isAPI() || rt.Method != "" {
			continue
		}
		page := request(h, target(rt), nil)
		if !strings.Contains(page.Body.String(), "data-topics=") {
			continue
		}
		n++
		if follows := strings.Contains(page.Body.String(), `data-topics="jobs,pools"`); follows != (rt.Path == "/pools/{pool}") {
			t.Errorf("%s follows jobs and pools: %v; the page of a pool lists jobs", target(rt), follows)
		}
		part := fragmentOf(h, target(rt))
		if !strings.HasPrefix(part.Body.String(), "<main") || !strings.Contains(page.Body.String(), part.Body.String()) {
			t.Errorf("%s: the fragment is no part of the page: %.200s", target(rt), part.Body)
		}
		tag := part.Header().Get("ETag")
		if again := fragmentOf(h, target(rt), "If-None-Match", tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s with its tag %s: status %d", target(rt), tag, again.Code)
		}
		zipped := fragmentOf(h, target(rt), "Accept-Encoding", "gzip")
		if z, err := gzip.NewReader(zipped.Body); err != nil {
			t.Errorf("%s: %v", target(rt), err)
		} else if text, err := io.ReadAll(z); err != nil || string(text) != part.Body.String() {
			t.Errorf("%s: unpacked %.100s, %v", target(rt), text, err)
		}
	}
	if n < 9 {
		t.Errorf("only %d pages are live", n)
	}
	if w := fragmentOf(h, "/jobs/nonsense"); w.Code != http.StatusNotFound || w.Header().Get("ETag") != "" {
		t.Errorf("fragment of an unknown job: status %d", w.Code)
	}
	if page := request(h, "/jobs/nonsense", nil).Body.String(); strings.Contains(page, "data-topics") {
		t.Error("the page of an unknown job follows a job without an id, which is refused")
	}
	if page := request(h, "/jobs?live=0", nil).Body.String(); strings.Contains(page, "data-topics") || !strings.Contains(page, "does not change by itself") {
		t.Error("the page of live=0 follows the cluster")
	}
}

// TestFragmentIsRenderedOnceForAChange asks for a fragment many times while there is a watcher.
func TestFragmentIsRenderedOnceForAChange(t *testing.T) {
	s, front, change := watchedJobs(t)
	for round := range 3 {
		change()
		before := s.questions.Load()
		want := fmt.Sprint("version ", s.version.Load())
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if w := fragmentOf(front, "/jobs?sort=name"); !strings.Contains(w.Body.String(), want) {
					t.Errorf("round %d: an old fragment", round)
				}
			})
		}
		all.Wait()
		if n := s.questions.Load() - before; n != 1 {
			t.Errorf("round %d: the source was asked %d times for 50 fragments", round, n)
		}
	}
}

// TestFragmentsAreTheSameOnAnyServer follows the page of a job whose state, forms and pools change. Each
// version is the same as from a server that has rendered no version before.
func TestFragmentsAreTheSameOnAnyServer(t *testing.T) {
	s, front, change := watchedJobs(t)
	path := "/jobs/" + aJob
	seen := make(map[string]bool)
	for _, step := range []func(){
		func() {},
		func() { s.suspended.Store(true) },
		func() { s.pools = append(s.pools, apidoc.Queue{Name: "new", State: "RUNNING"}) },
		func() {},
		func() { s.suspended.Store(false) },
		func() { s.pools = nil },
	} {
		step()
		change()
		got, want := fragmentOf(front, path).Body.String(), fragmentOf(s.handler(t), path).Body.String()
		if got != want {
			t.Errorf("another page than from a new server:\n%s\nwant:\n%s", got, want)
		}
		seen[got] = true
		if can, want := strings.Contains(got, path+"/resume"), s.suspended.Load(); can != want {
			t.Errorf("offers to resume: %t, want %t", can, want)
		}
	}
	if len(seen) != 6 {
		t.Errorf("%d versions, want 6", len(seen))
	}
}

// watching returns the number of watchers.
func (h *hub) watching() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.mu.watchers)
}

// longSource is a fake with very many jobs, of which the oldest is on no first page of any list.
type longSource struct {
	*fakeSource
	jobs      []apidoc.Job
	questions atomic.Int64
}

func newLong(jobs int) *longSource {
	s := &longSource{fakeSource: newFake("wordcount")}
	docs.Serve(s.table, docs.Jobs, s.page)
	for n := range jobs {
		s.jobs = append(s.jobs, apidoc.Job{JobID: fmt.Sprint("job_1_1", n), State: "RUNNING", SubmitTime: int64(n)})
	}
	return s
}

func (s *longSource) page(_ context.Context, q docs.JobQuery) (docs.Answer[docs.JobPage], error) {
	s.questions.Add(1)
	page, err := docs.SelectJobs(s.jobs, q, "1")
	return docs.Answer[docs.JobPage]{Value: page}, err
}

// TestHubSeesChangesBehindTheFirstPage changes the oldest of so many jobs that it is not on the first page of a list.
// Its list and its own page follow it. A list of one page costs one question.
func TestHubSeesChangesBehindTheFirstPage(t *testing.T) {
	for _, jobs := range []int{20, docs.MaxLimit, 2*docs.MaxLimit + 500} {
		s := newLong(jobs)
		h := newHub(s)
		s.questions.Store(0)
		_ = h.print(t.Context(), "jobs")
		if got, want := int(s.questions.Load()), 1+3*min(jobs/(2*docs.MaxLimit), 1); got != want {
			t.Errorf("%d jobs: %d questions about the list, want %d", jobs, got, want)
		}
		for what, change := range map[string]func(*apidoc.Job){
			"its progress": func(j *apidoc.Job) { j.Name += "x" },
			"its end":      func(j *apidoc.Job) { j.State = "SUCCEEDED" },
		} {
			s := newLong(jobs)
			h, topics := newHub(s), []string{"job/" + s.jobs[0].JobID, "jobs"}
			w, err := h.join(t.Context(), topics)
			must.Do(t, err)
			change(&s.jobs[0])
			h.update(t.Context(), topics)
			if changed, _ := h.take(w); len(changed) != 2 {
				t.Errorf("%d jobs: after %s the hub sees changes of %q, want %q", jobs, what, changed, topics)
			}
			h.leave(w)
		}
	}
}
