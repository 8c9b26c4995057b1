package notice

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// fakeService is a metadata service. It serves values by their paths and says what it refuses.
type fakeService struct {
	t  *testing.T
	mu struct {
		sync.Mutex
		values map[string]string
		asked  []string
		tokens int // tokens that were given; only the last one is good
	}
	check func(w http.ResponseWriter, r *http.Request) bool // answers a request that is refused, and returns false
}

func newFakeService(t *testing.T, check func(w http.ResponseWriter, r *http.Request) bool) (*fakeService, string) {
	f := &fakeService{t: t, check: check}
	f.mu.values = make(map[string]string)
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

func (f *fakeService) set(path, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.values[path] = value
}

// ServeHTTP implements http.Handler.
func (f *fakeService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // the caller sees what is missing
	if f.check != nil && !f.check(w, r) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.asked = append(f.mu.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	value, found := f.mu.values[r.URL.Path]
	if !found {
		http.NotFound(w, r)
		return
	}
	_, _ = io.WriteString(w, value) // the caller sees a broken connection
}

// poll polls once and checks the number of notices.
func poll(t *testing.T, s Source, want int) []Notice {
	t.Helper()
	notices, err := s.Poll(t.Context(), 0)
	if err != nil || len(notices) != want {
		t.Fatalf("%+v, %v; want %d notices", notices, err, want)
	}
	return notices
}

// source makes a Source that is closed at the end of the test.
func source(t *testing.T, cloud, base string) Source {
	t.Helper()
	s, err := NewSource(cloud, base)
	must.Do(t, err)
	t.Cleanup(func() { _ = s.Close() }) // returns nil
	return s
}

// TestAWS asks a service that demands tokens, also after it has forgotten them.
func TestAWS(t *testing.T) {
	good := ""
	f, base := newFakeService(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == awsTokenPath {
			if r.Method != http.MethodPut || r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") != "21600" {
				http.Error(w, "", http.StatusBadRequest)
				return false
			}
			good += "x"
			_, _ = io.WriteString(w, good) // the caller sees a broken connection
			return false
		}
		if r.Header.Get("X-aws-ec2-metadata-token") != good {
			http.Error(w, "", http.StatusUnauthorized)
			return false
		}
		return true
	})
	f.set(awsMaintenancePath, "[]")
	s := source(t, CloudAWS, base)
	poll(t, s, 0)
	f.set(awsActionPath, `{"action": "terminate", "time": "2026-11-26T08:22:00Z"}`)
	f.set(awsRebalancePath, `{"noticeTime": "2026-11-26T08:20:00Z"}`)
	if n := poll(t, s, 2); n[0].Kind != Interruption || n[1].Kind != Rebalance {
		t.Errorf("notices are %+v", n)
	}
	if good != "x" {
		t.Errorf("asked for %d tokens", len(good))
	}
	good = "forgotten"
	poll(t, s, 2)
	f.set(awsMaintenancePath, "<html>")
	if _, err := s.Poll(t.Context(), 0); err == nil || !strings.Contains(err.Error(), awsMaintenancePath) {
		t.Errorf("error is %v", err)
	}
}

// TestAWSRefusesEachToken asks a service that refuses its own tokens.
func TestAWSRefusesEachToken(t *testing.T) {
	_, base := newFakeService(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			http.Error(w, "", http.StatusUnauthorized)
		}
		return false
	})
	_, err := source(t, CloudAWS, base).Poll(t.Context(), 0)
	if err == nil || !strings.Contains(err.Error(), "status 401") {
		t.Errorf("error is %v", err)
	}
}

// TestGCPWaitsForAChange polls a service that answers when the value changes.
func TestGCPWaitsForAChange(t *testing.T) {
	waits, changed := make(chan struct{}, 1), make(chan struct{})
	f, base := newFakeService(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Metadata-Flavor") != "Google" {
			http.Error(w, "", http.StatusForbidden)
			return false
		}
		w.Header().Set("Metadata-Flavor", "Google")
		w.Header().Set("ETag", "e1")
		if q := r.URL.Query(); q.Get("wait_for_change") == "true" && q.Get("last_etag") == "e1" && q.Get("timeout_sec") == "60" {
			waits <- struct{}{}
			<-changed
		}
		return true
	})
	f.set(gcpPreemptedPath, "FALSE")
	f.set(gcpMaintenancePath, "NONE")
	s := source(t, CloudGCP, base)
	poll(t, s, 0)
	began := time.Now()
	got := make(chan []Notice, 1)
	go func() {
		notices, err := s.Poll(t.Context(), time.Minute)
		if err != nil {
			t.Error(err)
		}
		got <- notices
	}()
	<-waits
	f.set(gcpPreemptedPath, "TRUE")
	close(changed)
	notices := <-got
	if len(notices) != 1 || notices[0].Kind != Interruption || notices[0].Deadline.Before(began.Add(30*time.Second)) {
		t.Fatalf("notices are %+v", notices)
	}
	if again := poll(t, s, 1); again[0] != notices[0] {
		t.Errorf("the deadline moves: %+v, before %+v", again, notices)
	}
	f.set(gcpPreemptedPath, "FALSE")
	poll(t, s, 0)
}

// TestGCPIsNotAnotherServer asks a server without Google's header.
func TestGCPIsNotAnotherServer(t *testing.T) {
	f, base := newFakeService(t, nil)
	f.set(gcpPreemptedPath, "TRUE")
	_, err := source(t, CloudGCP, base).Poll(t.Context(), 0)
	if err == nil || !strings.Contains(err.Error(), "is not from the metadata service of Google") {
		t.Errorf("error is %v", err)
	}
}

// TestAzureIsAcknowledged polls and acknowledges an event.
func TestAzureIsAcknowledged(t *testing.T) {
	f, base := newFakeService(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Metadata") != "true" || r.URL.Query().Get("api-version") == "" {
			http.Error(w, "", http.StatusBadRequest)
			return false
		}
		return true
	})
	f.set("/metadata/instance/compute/name", "worker-7")
	f.set("/metadata/scheduledevents", azureEvent("Preempt", "Scheduled", `"worker-7"`, "Thu, 26 Nov 2026 18:29:47 GMT"))
	s := source(t, CloudAzure, base)
	n := poll(t, s, 1)[0]
	if err := s.Acknowledge(t.Context(), n); err != nil || !n.Alone {
		t.Fatalf("%+v: %v", n, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	method, body, _ := strings.Cut(f.mu.asked[len(f.mu.asked)-1], azureEventsPath+" ")
	var sent struct{ StartRequests []struct{ EventID string } }
	if err := json.Unmarshal([]byte(body), &sent); err != nil || method != "POST " || len(sent.StartRequests) != 1 || sent.StartRequests[0].EventID != "e1" {
		t.Errorf("asked %q: %+v, %v", f.mu.asked, sent, err)
	}
}

// TestRedirectionsAreNotFollowed asks a server that sends the caller elsewhere.
func TestRedirectionsAreNotFollowed(t *testing.T) {
	_, base := newFakeService(t, func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		return false
	})
	_, err := source(t, CloudAzure, base).Poll(t.Context(), 0)
	if err == nil || !strings.Contains(err.Error(), "status 302") {
		t.Errorf("error is %v", err)
	}
}

func TestUnknownCloud(t *testing.T) {
	if _, err := NewSource("nimbus", Address); err == nil || !strings.Contains(err.Error(), `no cloud "nimbus"`) {
		t.Errorf("error is %v", err)
	}
}
