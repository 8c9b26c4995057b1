package access

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

const (
	testToken  = "MDEyMzQ1Njc4OWFiY2RlZg=="
	otherToken = "ZmVkY2JhOTg3NjU0MzIxMA=="
)

// rig is a gate before a handler that records callers, at a time that tests set.
type rig struct {
	t       *testing.T
	gate    *Gate
	handler http.Handler

	mu      sync.Mutex
	now     time.Time
	records []Record
	callers []Caller // of requests that have reached the handler
}

func (r *rig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) advance(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// newRig returns a rig with a cluster that has testToken, unless change says otherwise.
func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, now: time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)}
	cfg := Config{
		Token: testToken, Cluster: "1763700000000", Hosts: []string{"M1.Example:7080"}, Now: r.clock,
		Addresses: func() ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil },
		Audit: func(record Record) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.records = append(r.records, record)
		},
	}
	if change != nil {
		change(&cfg)
	}
	gate, err := New(cfg)
	must.Do(t, err)
	r.gate = gate
	mux := http.NewServeMux()
	mux.HandleFunc("/login", gate.Login)
	mux.HandleFunc("/logout", gate.Logout)
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.callers = append(r.callers, CallerOf(q.Context()))
	})
	r.handler = gate.Handler(mux)
	return r
}

// edit changes a request.
type edit func(*http.Request)

func header(name, value string) edit { return func(r *http.Request) { r.Header.Set(name, value) } }
func host(name string) edit          { return func(r *http.Request) { r.Host = name } }
func from(address string) edit       { return func(r *http.Request) { r.RemoteAddr = address } }
func basic(name, token string) edit  { return func(r *http.Request) { r.SetBasicAuth(name, token) } }
func bearer(token string) edit       { return header("Authorization", "Bearer "+token) }
func carrying(list ...*http.Cookie) edit {
	return func(r *http.Request) {
		for _, c := range list {
			r.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
		}
	}
}

// send sends a request to the gate. The body is a form.
func (r *rig) send(method, path, body string, edits ...edit) *http.Response {
	r.t.Helper()
	q := httptest.NewRequest(method, "http://m1.example:7080"+path, strings.NewReader(body))
	q.RemoteAddr = "10.9.9.9:4711"
	if body != "" {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, e := range edits {
		e(q)
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, q)
	return w.Result()
}

// want checks the status of an answer.
func (r *rig) want(what string, answer *http.Response, status int) {
	r.t.Helper()
	if answer.StatusCode != status {
		r.t.Errorf("%s: status %d, want %d", what, answer.StatusCode, status)
	}
}

// login signs in and returns the cookie.
func (r *rig) login(edits ...edit) *http.Cookie {
	r.t.Helper()
	answer := r.send("POST", "/login", url.Values{"token": {r.gate.cfg.Token}, "name": {"ada"}}.Encode(), edits...)
	r.want("login", answer, http.StatusSeeOther)
	list := answer.Cookies()
	if len(list) != 1 {
		r.t.Fatalf("login has set cookies %v, want one", list)
	}
	return list[0]
}

// lastCaller returns the caller of the last request that has reached the handler, and forgets all.
// It returns the zero Caller if none has.
func (r *rig) lastCaller() (c Caller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.callers); n > 0 {
		c = r.callers[n-1]
	}
	r.callers = nil
	return c
}

// audited returns the records since the last call.
func (r *rig) audited() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.records
	r.records = nil
	return list
}

var (
	holderAda = Caller{Name: "ada", Token: true}
	stranger  = Caller{Name: Anonymous}
	reader    = Caller{Name: Anonymous, Reader: true}
)

// flipped returns a cookie's value with one bit of the sealed bytes changed.
func flipped(t *testing.T, value string, bit int) string {
	t.Helper()
	sealed, err := base64.RawURLEncoding.DecodeString(value)
	must.Do(t, err)
	sealed[bit/8] ^= 1 << (bit % 8)
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// contextWith returns the context of a request with one more value.
func contextWith(r *http.Request, key, value any) context.Context {
	return context.WithValue(r.Context(), key, value)
}

// statusOf returns the status for an error of this package: that of the Refusal in it, else 500.
// For nil it returns 200.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Status
	}
	return http.StatusInternalServerError
}
