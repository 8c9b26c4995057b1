package access

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

func testCookies(t *testing.T, token, cluster string, secure bool) *cookies {
	t.Helper()
	c, err := newCookies(&Config{Token: token, Cluster: cluster, Secure: secure, Base: "/"}, secure)
	must.Do(t, err)
	return c
}

// TestSealedSessionsOpen: what a master seals opens at each master of the cluster, and nowhere else.
func TestSealedSessionsOpen(t *testing.T) {
	one, two := testCookies(t, testToken, "1", false), testCookies(t, testToken, "1", false)
	strangers := map[string]*cookies{
		"other token":   testCookies(t, otherToken, "1", false),
		"other cluster": testCookies(t, testToken, "2", false),
		"with TLS":      testCookies(t, testToken, "1", true),
	}
	rapid.Check(t, func(t *rapid.T) {
		issued := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "issued"), 0)
		s := newSession(strings.ToValidUTF8(rapid.StringN(0, 30, maxNameBytes).Draw(t, "name"), ""), issued)
		s.renewed = issued.Add(time.Duration(rapid.IntRange(0, 1<<20).Draw(t, "renewed")) * time.Second)
		value := one.seal(s)
		if got, ok := two.open(value); !ok || got != s {
			t.Fatalf("opened as %+v, %v; want %+v", got, ok, s)
		}
		for what, c := range strangers {
			if _, ok := c.open(value); ok {
				t.Fatalf("%s: opened", what)
			}
		}
		if again := one.seal(s); again == value {
			t.Fatal("two seals of a session are equal: the nonce is not random")
		}
	})
}

// TestChangedCookiesAreRefused changes each bit and each length of a cookie.
func TestChangedCookiesAreRefused(t *testing.T) {
	c := testCookies(t, testToken, "1", false)
	value := c.seal(newSession("ada", time.Unix(1_763_700_000, 0)))
	for bit := range len(value) * 6 / 8 * 8 {
		if _, ok := c.open(flipped(t, value, bit)); ok {
			t.Errorf("opened with bit %d changed", bit)
		}
	}
	for n := range len(value) {
		if _, ok := c.open(value[:n]); ok {
			t.Errorf("opened with %d of %d characters", n, len(value))
		}
	}
	for _, other := range []string{value + "A", value + "=", "!" + value, value + value, strings.ToLower(value)} {
		if _, ok := c.open(other); ok {
			t.Errorf("%q: opened", other)
		}
	}
}

// TestSealedRubbishIsRefused: the right key does not make a plaintext a session.
func TestSealedRubbishIsRefused(t *testing.T) {
	c := testCookies(t, testToken, "1", false)
	good := make([]byte, sessionHeader)
	good[0] = sessionVersion
	for what, plain := range map[string][]byte{
		"empty":         {},
		"short":         good[:sessionHeader-1],
		"other version": append([]byte{2}, good[1:]...),
		"long name":     append(good[:sessionHeader:sessionHeader], make([]byte, maxNameBytes+1)...),
		"not UTF-8":     append(good[:sessionHeader:sessionHeader], 0xff),
	} {
		if _, ok := c.open(cookieEncoding.EncodeToString(c.aead.Seal(nil, nil, plain, []byte(c.name)))); ok {
			t.Errorf("%s: opened", what)
		}
	}
	if _, ok := c.open(cookieEncoding.EncodeToString(c.aead.Seal(nil, nil, good, []byte(c.name)))); !ok {
		t.Error("the shortest plaintext was not opened, so this test shows nothing")
	}
}

func FuzzOpen(f *testing.F) {
	c, err := newCookies(&Config{Token: testToken, Base: "/"}, false)
	must.Do(f, err)
	f.Add("")
	f.Add("AAAA")
	f.Add(c.seal(newSession("ada", time.Unix(1_763_700_000, 0)))[1:])
	f.Fuzz(func(t *testing.T, value string) {
		if s, ok := c.open(value); ok {
			t.Errorf("%q: opened as %+v", value, s)
		}
	})
}

// TestSessionTimes moves one cookie through time.
func TestSessionTimes(t *testing.T) {
	at := time.Unix(1_763_700_000, 0)
	for _, c := range []struct {
		what            string
		issued, renewed time.Duration // before now
		want            bool
	}{
		{"new", 0, 0, true},
		{"idle for 29 minutes", 29 * time.Minute, 29 * time.Minute, true},
		{"idle for 30 minutes", 30 * time.Minute, 30 * time.Minute, false},
		{"in use for almost 12 hours", 12*time.Hour - time.Second, time.Minute, true},
		{"in use for 12 hours", 12 * time.Hour, 0, false},
		{"of a clock that is 1 minute ahead", -time.Minute, -time.Minute, true},
		{"of a clock that is 2 minutes ahead", -2 * time.Minute, -2 * time.Minute, false},
		{"renewed before it was issued", 0, time.Minute, false},
	} {
		s := session{issued: at.Add(-c.issued), renewed: at.Add(-c.renewed)}
		if got := s.valid(at); got != c.want {
			t.Errorf("%s: valid is %v, want %v", c.what, got, c.want)
		}
	}
}

// TestCookieAttributes checks the header that browsers get, with and without TLS.
func TestCookieAttributes(t *testing.T) {
	at := time.Unix(1_763_700_000, 0)
	for _, c := range []struct {
		cfg          Config
		prefix, rest string
	}{
		{Config{Base: "/"}, "hammr=", "; Path=/; Max-Age=1800; HttpOnly; SameSite=Lax"},
		{Config{Base: "/hammr/", Cluster: "7"}, "hammr-7=", "; Path=/hammr/; Max-Age=1800; HttpOnly; SameSite=Lax"},
		{Config{Base: "/hammr/", Cluster: "7", Secure: true}, "__Host-hammr-7=", "; Path=/; Max-Age=1800; HttpOnly; Secure; SameSite=Lax"},
	} {
		c.cfg.Token = testToken
		made, err := newCookies(&c.cfg, c.cfg.Secure)
		must.Do(t, err)
		h := http.Header{"Set-Cookie": {"theme=dark"}}
		made.set(h, newSession("eve", at), at)
		made.set(h, newSession("ada", at), at) // replaces the first one
		if len(h["Set-Cookie"]) != 2 || h["Set-Cookie"][0] != "theme=dark" {
			t.Fatalf("headers %q, want two", h["Set-Cookie"])
		}
		line := h["Set-Cookie"][1]
		value, rest, _ := strings.Cut(strings.TrimPrefix(line, c.prefix), ";")
		if s, ok := made.open(value); !strings.HasPrefix(line, c.prefix) || ";"+rest != c.rest || !ok || s.name != "ada" {
			t.Errorf("cookie %q, want %s…%s", line, c.prefix, c.rest)
		}
		made.remove(h)
		if got := h["Set-Cookie"][1]; !strings.HasPrefix(got, c.prefix+"; ") || !strings.Contains(got, "Max-Age=0") {
			t.Errorf("removal %q", got)
		}
	}
}
