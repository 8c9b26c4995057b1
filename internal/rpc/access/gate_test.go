package access

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// everyHeader is what each answer has, good or refused.
var everyHeader = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types hammr",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
	"Permissions-Policy": "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), " +
		"payment=(), publickey-credentials-get=(), serial=(), usb=()",
	"Strict-Transport-Security":   "",
	"Access-Control-Allow-Origin": "",
}

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	r := newRig(t, nil)
	for what, answer := range map[string]*http.Response{
		"page":          r.send("GET", "/jobs", "", carrying(r.login())),
		"page, reader":  r.send("GET", "/jobs", ""),
		"asset":         r.send("GET", "/assets/ui.js", ""),
		"wrong host":    r.send("GET", "/", "", host("evil.example")),
		"cross-origin":  r.send("POST", "/", "", header("Sec-Fetch-Site", "cross-site")),
		"large":         r.send("POST", "/", strings.Repeat("x", MaxBodyBytes+1)),
		"wrong token":   r.send("GET", "/", "", bearer(otherToken)),
		"login":         r.send("POST", "/login", "token="+testToken),
		"login, wrong":  r.send("POST", "/login", "token=1"),
		"login, method": r.send("GET", "/login", ""),
		"logout":        r.send("POST", "/logout", ""),
	} {
		for name, want := range everyHeader {
			if got := answer.Header.Get(name); got != want {
				t.Errorf("%s: header %s: %q, want %q", what, name, got, want)
			}
		}
	}
}

func TestStrictTransport(t *testing.T) {
	for _, c := range []struct {
		secure bool
		age    time.Duration
		want   string
	}{{true, 24 * time.Hour, "max-age=86400"}, {true, 0, ""}, {false, 24 * time.Hour, ""}} {
		r := newRig(t, func(cfg *Config) { cfg.Secure, cfg.StrictTransport = c.secure, c.age })
		if got := r.send("GET", "/", "").Header.Get("Strict-Transport-Security"); got != c.want {
			t.Errorf("secure %v, %v: %q, want %q", c.secure, c.age, got, c.want)
		}
	}
}

func TestHost(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Hosts = append(cfg.Hosts, "hammr", "192.0.2.7", "[2001:db8::7]:7080") })
	for name, want := range map[string]int{
		"m1.example":          200,
		"M1.EXAMPLE:80":       200,
		"m1.example.":         200,
		"hammr:1":             200,
		"localhost":           200,
		"localhost:7080":      200,
		"127.0.0.1:7080":      200,
		"127.8.9.1":           200,
		"[::1]:7080":          200,
		"[::1]":               200,
		"10.1.2.3:7080":       200, // an interface has it
		"[::ffff:10.1.2.3]":   200,
		"192.0.2.7:7080":      200,
		"[2001:DB8:0::7]":     200,
		"":                    421,
		":7080":               421,
		"10.1.2.4":            421,
		"evil.example":        421,
		"m1.example.evil.net": 421,
		"evil.m1.example":     421,
		"localhost.evil.net":  421,
		"m1.example@evil":     421,
		"127.0.0.1.nip.io":    421,
		"2130706433":          421, // 127.0.0.1 as browsers never send it
		"0.0.0.0":             421,
		"m1.example:x":        421,
		"m1.example:7080:1":   421,
		"m1.example/":         421,
	} {
		r.want("host "+name, r.send("GET", "/", "", host(name)), want)
		if passed := r.lastCaller() != (Caller{}); passed != (want == 200) {
			t.Errorf("host %q: passed to the handler: %v", name, passed)
		}
	}
}

// TestHostOfConnection: a machine may have addresses that no interface shows. The address at which
// the connection came in is one of its own.
func TestHostOfConnection(t *testing.T) {
	r := newRig(t, func(cfg *Config) {
		cfg.Addresses = func() ([]netip.Addr, error) { return nil, errors.New("no list") }
	})
	server := httptest.NewServer(r.handler)
	defer server.Close()
	at := server.Listener.Addr().(*net.TCPAddr)
	local := http.LocalAddrContextKey
	for name, want := range map[string]bool{at.String(): true, "10.1.2.3": false} {
		q := httptest.NewRequest("GET", "/", nil)
		q.Host = name
		if got := r.gate.hosts.Accept(q.WithContext(contextWith(q, local, at))); got != want {
			t.Errorf("host %s at %v: %v", name, at, got)
		}
	}
	answer, err := server.Client().Get(server.URL)
	must.Do(t, err)
	defer answer.Body.Close()
	r.want("over a connection", answer, http.StatusOK)
}

// TestCrossOrigin sends what pages of other origins can make a browser send.
func TestCrossOrigin(t *testing.T) {
	r := newRig(t, nil)
	cookie := r.login()
	signedIn := carrying(cookie)
	for _, c := range []struct {
		what, method string
		edits        []edit
		want         int
	}{
		{"form of this page", "POST", []edit{header("Sec-Fetch-Site", "same-origin"), header("Origin", "http://m1.example:7080")}, 200},
		{"form of this page, without TLS", "POST", []edit{header("Origin", "http://m1.example:7080")}, 200},
		{"a command", "POST", nil, 200},
		{"form of another site", "POST", []edit{header("Sec-Fetch-Site", "cross-site"), header("Origin", "https://evil.example")}, 403},
		{"form of another site, without TLS", "POST", []edit{header("Origin", "http://evil.example")}, 403},
		{"form of another port", "POST", []edit{header("Sec-Fetch-Site", "same-site"), header("Origin", "http://m1.example:9999")}, 403},
		{"form of another port, without TLS", "POST", []edit{header("Origin", "http://m1.example:9999")}, 403},
		{"page in a sandbox", "POST", []edit{header("Origin", "null")}, 403},
		{"fetch", "DELETE", []edit{header("Sec-Fetch-Site", "cross-site"), header("Origin", "https://evil.example")}, 403},
		{"fetch with the token", "PUT", []edit{header("Sec-Fetch-Site", "cross-site"), bearer(testToken)}, 403},
		{"link", "GET", []edit{header("Sec-Fetch-Site", "cross-site")}, 200},
	} {
		r.lastCaller()
		r.want(c.what, r.send(c.method, "/jobs", "", append(c.edits, signedIn)...), c.want)
		if passed := r.lastCaller() != (Caller{}); passed != (c.want == 200) {
			t.Errorf("%s: passed to the handler: %v", c.what, passed)
		}
	}
	// A sign-in by another site's form would put the user into a session of the attacker.
	answer := r.send("POST", "/login", "token="+testToken, header("Origin", "http://evil.example"))
	r.want("login by another site", answer, 403)
	if len(answer.Cookies()) > 0 {
		t.Error("login by another site has set a cookie")
	}
}

func TestCredentials(t *testing.T) {
	for _, c := range []struct {
		what  string
		edits []edit
		want  Caller // zero: 401
	}{
		{"none", nil, stranger},
		{"bearer", []edit{bearer(testToken)}, Caller{Name: "unknown", Token: true}},
		{"bearer with a name", []edit{bearer(testToken), header("Hammr-User", "ada")}, holderAda},
		{"bearer in small letters", []edit{header("Authorization", "bearer "+testToken)}, Caller{Name: "unknown", Token: true}},
		{"basic", []edit{basic("ada", testToken)}, holderAda},
		{"basic with control characters", []edit{basic("a\nb", testToken)}, Caller{Name: "a?b", Token: true}},
		{"basic without a name", []edit{basic("", testToken)}, Caller{Name: "unknown", Token: true}},
		{"other token", []edit{bearer(otherToken)}, Caller{}},
		{"begin of the token", []edit{bearer(testToken[:20])}, Caller{}},
		{"no token", []edit{bearer("")}, Caller{}},
		{"basic, other token", []edit{basic("ada", otherToken)}, Caller{}},
		{"basic, token as name", []edit{basic(testToken, "")}, Caller{}},
		{"basic, not base64", []edit{header("Authorization", "Basic ???")}, Caller{}},
		{"other scheme", []edit{header("Authorization", "Negotiate YII=")}, Caller{}},
		{"token alone", []edit{header("Authorization", testToken)}, Caller{}},
		{"token in the URL", []edit{func(r *http.Request) { r.URL.RawQuery = "token=" + testToken }}, stranger},
		{"a name alone", []edit{header("Hammr-User", "ada")}, stranger},
	} {
		r := newRig(t, nil)
		status := 200
		if c.want == (Caller{}) {
			status = 401
		}
		answer := r.send("GET", "/", "", c.edits...)
		r.want(c.what, answer, status)
		if got := r.lastCaller(); got != c.want {
			t.Errorf("%s: caller %+v, want %+v", c.what, got, c.want)
		}
		if got, want := answer.Header.Get("WWW-Authenticate"), map[int]string{401: `Bearer realm="hammr"`}[status]; got != want {
			t.Errorf("%s: WWW-Authenticate: %q, want %q", c.what, got, want)
		}
		if len(answer.Cookies()) > 0 {
			t.Errorf("%s: cookies %v", c.what, answer.Cookies())
		}
	}
}

func TestAnonymousReaders(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.AnonymousReaders = true })
	r.send("GET", "/", "")
	if got := r.lastCaller(); got != reader {
		t.Errorf("caller %+v, want %+v", got, reader)
	}
	r.want("wrong token", r.send("GET", "/", "", bearer(otherToken)), 401)
}

// TestClusterWithoutToken checks that every caller may do everything, and that no session is made.
func TestClusterWithoutToken(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Token = "" })
	for _, edits := range [][]edit{nil, {bearer("x")}, {basic("ada", "")}, {header("Cookie", "hammr=x")}} {
		r.send("GET", "/", "", edits...)
		if got := r.lastCaller(); !got.Token || May(got, Operate, Object{}) != nil {
			t.Errorf("caller %+v has no token", got)
		}
	}
	for _, path := range []string{"/login", "/logout"} {
		answer := r.send("POST", path, "token=x")
		r.want(path, answer, http.StatusSeeOther)
		if len(answer.Cookies()) > 0 {
			t.Errorf("%s: cookies %v", path, answer.Cookies())
		}
	}
}

// TestBody: a body is refused if its length is known to be too large, and cut off otherwise.
func TestBody(t *testing.T) {
	r := newRig(t, nil)
	var read int
	var failed error
	handler := r.gate.Handler(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		data, err := io.ReadAll(q.Body)
		read, failed = len(data), err
	}))
	for _, c := range []struct {
		bytes  int
		known  bool
		status int
		read   int
	}{
		{MaxBodyBytes, true, 200, MaxBodyBytes},
		{MaxBodyBytes + 1, true, 413, -1},
		{MaxBodyBytes, false, 200, MaxBodyBytes},
		{MaxBodyBytes + 1, false, 200, MaxBodyBytes},
	} {
		read, failed = -1, nil
		q := httptest.NewRequest("POST", "http://localhost/", strings.NewReader(strings.Repeat("x", c.bytes)))
		if !c.known {
			q.ContentLength = -1
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, q)
		if w.Code != c.status || read != c.read || (failed != nil) != (c.bytes > MaxBodyBytes && read >= 0) {
			t.Errorf("%d bytes, length known: %v: status %d, read %d, %v", c.bytes, c.known, w.Code, read, failed)
		}
	}
	r.want("login", r.send("POST", "/login", strings.Repeat("x", MaxBodyBytes+1)), 413)
	r.want("login, length not known", r.send("POST", "/login", strings.Repeat("x", MaxBodyBytes+1), func(q *http.Request) { q.ContentLength = -1 }), 413)
}

// TestRefuse: the pages may answer refusals by themselves, with the headers set.
func TestRefuse(t *testing.T) {
	r := newRig(t, func(cfg *Config) {
		cfg.Refuse = func(w http.ResponseWriter, _ *http.Request, refusal *Refusal) {
			w.WriteHeader(refusal.Status)
			io.WriteString(w, "page: "+refusal.Text)
		}
	})
	answer := r.send("GET", "/", "", bearer(otherToken))
	text, _ := io.ReadAll(answer.Body)
	r.want("own page", answer, 401)
	if !strings.HasPrefix(string(text), "page: not the cluster's token") || answer.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("answer %q, headers %v", text, answer.Header)
	}
	w := httptest.NewRecorder()
	r.gate.Refuse(w, httptest.NewRequest("GET", "/", nil), errors.New("open /secret/path: denied"))
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("an internal error is answered with %d, %q", w.Code, w.Body)
	}
}

func TestAssetsHaveNoCaller(t *testing.T) {
	r := newRig(t, nil)
	cookie := r.login()
	r.advance(10 * time.Minute)
	answer := r.send("GET", "/assets/ui.js", "", carrying(cookie))
	r.want("asset", answer, 200)
	if got := r.lastCaller(); got != (Caller{}) || len(answer.Cookies()) > 0 {
		t.Errorf("asset: caller %+v, cookies %v", got, answer.Cookies())
	}
}

func TestConfig(t *testing.T) {
	for want, cfg := range map[string]Config{
		"":                        {Hosts: []string{"m1", "m1:7080", "::1"}, Base: "/hammr/", Cluster: "1763_a-b.c"},
		`Base is "h"`:             {Base: "h"},
		`Base is "//"`:            {Base: "//"},
		`Base is "/h"`:            {Base: "/h"},
		`Assets is "assets/"`:     {Assets: "assets/"},
		`Assets is "/"`:           {Assets: "/"},
		`Requests is -1`:          {Requests: -1},
		`StrictTransport is -1ns`: {StrictTransport: -1},
		`Cluster is "a;b"`:        {Cluster: "a;b"},
		`host "a b"`:              {Hosts: []string{"a b"}},
		`host ""`:                 {Hosts: []string{""}},
		`host "http://m1"`:        {Hosts: []string{"http://m1"}},
	} {
		_, err := New(cfg)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cfg, err, want)
		}
	}
	cfg := Config{Base: "x", Requests: -1, Hosts: []string{"?"}}
	if _, err := New(cfg); err == nil || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("four problems are reported as %v", err)
	}
}

// TestRequestsOfSession: of one session eight requests run, others wait, and too many are refused.
// Other sessions are not concerned.
func TestRequestsOfSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := New(Config{Token: testToken, Requests: 2})
		must.Do(t, err)
		release := make(chan struct{})
		handler := g.Handler(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/slow" {
				<-release
			}
		}))
		got := make(chan int, 100)
		send := func(path string, edits ...edit) {
			q := httptest.NewRequest("GET", "http://localhost"+path, nil)
			for _, e := range edits {
				e(q)
			}
			go func() {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, q)
				got <- w.Code
			}()
			synctest.Wait()
		}
		// counts returns how many answers there are of each status, and forgets them.
		counts := func() map[int]int {
			synctest.Wait()
			m := make(map[int]int)
			for len(got) > 0 {
				m[<-got]++
			}
			return m
		}
		want := func(what string, want map[int]int) {
			t.Helper()
			if got := counts(); !maps.Equal(got, want) {
				t.Errorf("%s: answers %v, want %v", what, got, want)
			}
		}
		for range 2 + 2*maxQueue {
			send("/slow")
		}
		want("two run, others wait", map[int]int{})
		send("/slow")
		want("one too many", map[int]int{429: 1})
		send("/", from("10.0.0.2:1"))
		want("another session", map[int]int{200: 1})
		release <- struct{}{}
		release <- struct{}{}
		want("two end", map[int]int{200: 2})
		time.Sleep(maxQueued + time.Second)
		want("others have waited too long", map[int]int{429: 2*maxQueue - 2})
		close(release)
		want("the last two end", map[int]int{200: 2})
		if n := len(g.running.mu.sessions); n != 0 {
			t.Errorf("%d sessions are remembered without requests", n)
		}
	})
}

// TestStreamsAreCountedApart: open streams do not keep a session from its pages. They count beyond the ends
// of their handlers, which leave them to others.
func TestStreamsAreCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := New(Config{Token: testToken, Requests: 1})
		must.Do(t, err)
		var leaves []func()
		var codes []int
		handler := g.Handler(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			if isStream(q) {
				leaves = append(leaves, Keep(q.Context()))
			}
		}))
		stream := header("Accept", "text/event-stream")
		for range streamRatio {
			q := httptest.NewRequest("GET", "http://localhost/", nil)
			stream(q)
			handler.ServeHTTP(httptest.NewRecorder(), q)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/", nil))
		codes = append(codes, w.Code)
		q := httptest.NewRequest("GET", "http://localhost/", nil)
		stream(q)
		w = httptest.NewRecorder()
		handler.ServeHTTP(w, q) // waits for maxQueued in the bubble's time
		codes = append(codes, w.Code)
		if !slices.Equal(codes, []int{200, 429}) || w.Header().Get("Retry-After") != "1" {
			t.Errorf("a page and one more stream: %v, Retry-After %q", codes, w.Header().Get("Retry-After"))
		}
		for _, leave := range leaves {
			leave()
		}
		if n := len(g.running.mu.sessions); n != 0 || len(leaves) != streamRatio {
			t.Errorf("%d sessions are remembered after %d streams", n, len(leaves))
		}
	})
}
