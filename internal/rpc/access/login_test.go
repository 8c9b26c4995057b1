package access

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestLoginMakesASession(t *testing.T) {
	r := newRig(t, nil)
	answer := r.send("POST", "/login", url.Values{"token": {" " + testToken + "\n"}, "name": {" ada\x1b "}, "to": {"/jobs/J?sort=-time"}}.Encode())
	r.want("login", answer, http.StatusSeeOther)
	if got := answer.Header.Get("Location"); got != "/jobs/J?sort=-time" {
		t.Errorf("the browser is sent to %q", got)
	}
	cookie := answer.Cookies()[0]
	if cookie.Name != "hammr-1763700000000" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.MaxAge != 1800 {
		t.Errorf("cookie %+v", cookie)
	}
	if strings.Contains(cookie.Value, testToken) || strings.Contains(cookie.Value, "ada") {
		t.Errorf("cookie shows its content: %q", cookie.Value)
	}
	r.want("page", r.send("GET", "/", "", carrying(cookie)), 200)
	if got, want := r.lastCaller(), (Caller{Name: "ada?", Token: true}); got != want {
		t.Errorf("caller %+v, want %+v", got, want)
	}
	records := r.audited()
	if len(records) != 1 || records[0].Call != "Login" || records[0].Who != "ada?" || records[0].From != "10.9.9.9:4711" || records[0].Err != nil {
		t.Errorf("audit %+v", records)
	}
}

// TestAnyMasterAcceptsTheCookie: masters share the token and nothing else.
func TestAnyMasterAcceptsTheCookie(t *testing.T) {
	one, two := newRig(t, nil), newRig(t, nil)
	two.send("GET", "/", "", carrying(one.login()))
	if got := two.lastCaller(); got != holderAda {
		t.Errorf("caller %+v, want %+v", got, holderAda)
	}
	other := newRig(t, func(cfg *Config) { cfg.Token = otherToken })
	answer := other.send("GET", "/", "", carrying(one.login()))
	if got := other.lastCaller(); got != stranger {
		t.Errorf("other token: caller %+v, want %+v", got, stranger)
	}
	if list := answer.Cookies(); len(list) != 1 || list[0].MaxAge >= 0 {
		t.Errorf("a cookie that is not valid is not removed: %v", list)
	}
}

// TestCookiesThatAreNotSessions sends forged, changed and foreign cookies.
func TestCookiesThatAreNotSessions(t *testing.T) {
	r := newRig(t, nil)
	good := r.login()
	with := func(value string) *http.Cookie { return &http.Cookie{Name: good.Name, Value: value} }
	foreign := newRig(t, func(cfg *Config) { cfg.Token = otherToken }).login()
	for what, list := range map[string][]*http.Cookie{
		"empty":               {with("")},
		"rubbish":             {with("AAAABBBBCCCC")},
		"token":               {with(strings.TrimRight(testToken, "="))},
		"truncated":           {with(good.Value[:len(good.Value)-2])},
		"changed":             {with(flipped(t, good.Value, 200))},
		"of another cluster":  {foreign},
		"under another name":  {{Name: "hammr", Value: good.Value}},
		"after too many bad":  {with("1"), with("2"), with("3"), with("4"), good},
		"with another prefix": {{Name: "__Host-" + good.Name, Value: good.Value}},
	} {
		r.send("GET", "/", "", carrying(list...))
		if got := r.lastCaller(); got != stranger {
			t.Errorf("%s: caller %+v, want %+v", what, got, stranger)
		}
	}
	// Another path of the host may have set a bad cookie of the same name before the good one.
	r.send("GET", "/", "", carrying(with("bad"), good))
	if got := r.lastCaller(); got != holderAda {
		t.Errorf("bad and good cookie: caller %+v, want %+v", got, holderAda)
	}
}

// TestSessionEnds: a session ends after 30 minutes without use and after 12 hours at most.
func TestSessionEnds(t *testing.T) {
	r := newRig(t, nil)
	first := r.login()
	r.advance(30 * time.Minute)
	r.send("GET", "/", "", carrying(first))
	if got := r.lastCaller(); got != stranger {
		t.Errorf("idle for 30 minutes: caller %+v", got)
	}
	cookie := r.login()
	begin := r.clock()
	for r.clock().Sub(begin) < 12*time.Hour {
		answer := r.send("GET", "/", "", carrying(cookie))
		if got := r.lastCaller(); got != holderAda {
			t.Fatalf("in use for %v: caller %+v", r.clock().Sub(begin), got)
		}
		for _, renewed := range answer.Cookies() {
			if left := 12*time.Hour - r.clock().Sub(begin); time.Duration(renewed.MaxAge)*time.Second > left {
				t.Fatalf("cookie lives for %d s, and the session only for %v", renewed.MaxAge, left)
			}
			cookie = renewed
		}
		r.advance(29 * time.Minute)
	}
	r.send("GET", "/", "", carrying(cookie))
	if got := r.lastCaller(); got != stranger {
		t.Errorf("in use for 12 hours: caller %+v", got)
	}
}

// TestRenewalIsRare: a cookie is not replaced by each request.
func TestRenewalIsRare(t *testing.T) {
	r := newRig(t, nil)
	cookie := r.login()
	for after, want := range []int{0: 0, 1: 1} {
		answer := r.send("GET", "/", "", carrying(cookie))
		if got := len(answer.Cookies()); got != want {
			t.Errorf("after %d minutes: %d cookies, want %d", after, got, want)
		}
		r.advance(time.Minute)
	}
}

func TestLogout(t *testing.T) {
	r := newRig(t, nil)
	cookie := r.login()
	r.advance(2 * time.Minute) // so that the cookie is renewed by the same answer that removes it
	r.audited()
	answer := r.send("POST", "/logout", "", carrying(cookie))
	r.want("logout", answer, http.StatusSeeOther)
	list := answer.Cookies()
	if len(list) != 1 || list[0].Name != cookie.Name || list[0].Value != "" || list[0].MaxAge >= 0 || answer.Header.Get("Location") != "/" {
		t.Errorf("cookies %v, location %q", list, answer.Header.Get("Location"))
	}
	if got := r.audited(); len(got) != 1 || got[0].Call != "Logout" || got[0].Who != "ada" {
		t.Errorf("audit %+v", got)
	}
	r.send("POST", "/logout", "")
	if got := r.audited(); len(got) != 0 {
		t.Errorf("a stranger's logout is audited: %+v", got)
	}
}

// TestBruteForce sends five wrong tokens in a minute. Then others have to wait, and the right one does not.
func TestBruteForce(t *testing.T) {
	for what, try := range map[string]func(*rig, string, ...edit) *http.Response{
		"form": func(r *rig, token string, edits ...edit) *http.Response {
			return r.send("POST", "/login", url.Values{"token": {token}}.Encode(), edits...)
		},
		"bearer": func(r *rig, token string, edits ...edit) *http.Response {
			return r.send("GET", "/", "", append(edits, bearer(token))...)
		},
		"basic": func(r *rig, token string, edits ...edit) *http.Response {
			return r.send("GET", "/", "", append(edits, basic("ada", token))...)
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t, nil)
			signedIn := carrying(r.login())
			good := map[string]int{"form": 303}[what] | map[string]int{"bearer": 200, "basic": 200}[what]
			for range 100 {
				r.want("right token", try(r, testToken), good)
			}
			for n := range 5 {
				r.want("wrong token", try(r, fmt.Sprint("guess-", n)), 401)
			}
			r.want("right token after five wrong ones", try(r, testToken, from("10.9.9.9:4712")), good) // another port of the same address
			answer := try(r, "guess-4", from("10.9.9.9:4713"))
			r.want("wrong token after five others", answer, 429)
			if got := answer.Header.Get("Retry-After"); got != "12" {
				t.Errorf("Retry-After: %s, want 12", got)
			}
			r.want("another address", try(r, testToken, from("10.9.9.10:4711")), good)
			r.want("a session of the same address", r.send("GET", "/", "", signedIn), 200)
			r.advance(12 * time.Second)
			r.want("right token after the pause", try(r, testToken), good)
			r.want("wrong token after the pause", try(r, "guess-5"), 401)
			r.want("another wrong token", try(r, "guess-6"), 429)
		})
	}
}

// TestTriesAreBounded checks that many client addresses do not exhaust the memory, and that none gets more tries than the limit.
func TestTriesAreBounded(t *testing.T) {
	tries, now := newTries(), time.Unix(1_763_700_000, 0)
	for n := range maxAddresses + 100 {
		tries.wrong(fmt.Sprint("address ", n), now)
	}
	if n := len(tries.mu.addresses); n != maxAddresses {
		t.Errorf("%d addresses are remembered, want %d", n, maxAddresses)
	}
	if wait := tries.wrong("one more", now); wait == 0 {
		t.Error("an address that does not fit has free tries after 100 wrong tokens of such addresses")
	}
	now = now.Add(time.Hour)
	tries.wrong("later", now)
	if n := len(tries.mu.addresses); n != 1 {
		t.Errorf("%d addresses are remembered after an hour, want 1", n)
	}
}

func TestNetworkOf(t *testing.T) {
	for remote, want := range map[string]string{
		"10.1.2.3:80":               "10.1.2.3",
		"[::ffff:10.1.2.3]:80":      "10.1.2.3",
		"[2001:db8:1:2:3:4:5:6]:80": "2001:db8:1::",
		"[2001:db8:1:2:ffff::1]:81": "2001:db8:1::",
		"[fe80::1%eth0]:80":         "fe80::",
		"@":                         "@",
		"pipe:1":                    "pipe",
	} {
		if got := networkOf(remote); got != want {
			t.Errorf("network of %s is %s, want %s", remote, got, want)
		}
	}
}

// TestLoginSendsOnlyToOwnPaths: a link to the form must not lead to another site.
func TestLoginSendsOnlyToOwnPaths(t *testing.T) {
	for base, table := range map[string]map[string]string{
		"/": {
			"": "/", "/": "/", "/jobs": "/jobs", "/jobs/a?b=c#d": "/jobs/a?b=c#d", "/a//b": "/a/b",
			"jobs": "/", "//evil.example": "/", "/\\evil.example": "/", "/\t/evil.example": "/", "\\\\evil.example": "/", "http://evil.example/": "/",
			"https:/evil.example": "/", "javascript:alert(1)": "/", "/\nSet-Cookie: x=y": "/", "/%zz": "/", "///evil.example": "/", " //evil.example": "/",
		},
		"/hammr/": {
			"/hammr/jobs": "/hammr/jobs", "/": "/hammr/", "/other/": "/hammr/", "/hammr": "/hammr/", "/hammr/../other": "/hammr/", "/hammr/%2e%2e/other": "/hammr/",
			"/hammr/jobs/..": "/hammr/", "/hammr/a..b": "/hammr/a..b",
		},
	} {
		r := newRig(t, func(cfg *Config) { cfg.Base = base })
		for to, want := range table {
			answer := r.send("POST", "/login", url.Values{"token": {testToken}, "to": {to}}.Encode())
			if got := answer.Header.Get("Location"); got != want {
				t.Errorf("base %s, to %q: the browser is sent to %q, want %q", base, to, got, want)
			}
		}
	}
}

func TestLoginReadsOnlyTheBody(t *testing.T) {
	r := newRig(t, nil)
	r.want("token in the URL", r.send("POST", "/login?token="+url.QueryEscape(testToken), ""), 401)
	r.want("bad form", r.send("POST", "/login", "token=%zz"), 400)
	answer := r.send("GET", "/login?token="+url.QueryEscape(testToken), "")
	r.want("GET", answer, 405)
	if answer.Header.Get("Allow") != "POST" || len(answer.Cookies()) > 0 {
		t.Errorf("GET: headers %v", answer.Header)
	}
	r.want("GET of logout", r.send("GET", "/logout", ""), 405)
	if records := r.audited(); len(records) != 1 || records[0].Err == nil || records[0].Who != "unknown" {
		t.Errorf("audit %+v, want one refused login", records)
	}
}

// TestLoginOutsideOfHandler: without the checks of Handler, other sites could sign users in.
func TestLoginOutsideOfHandler(t *testing.T) {
	r := newRig(t, nil)
	for _, serve := range []http.HandlerFunc{r.gate.Login, r.gate.Logout} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			serve(httptest.NewRecorder(), httptest.NewRequest("POST", "/login", strings.NewReader("token="+testToken)))
		}()
	}
}
