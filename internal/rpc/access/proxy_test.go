package access

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestProxy checks that the headers of a proxy count if they come from one of the networks of proxies,
// and only then.
func TestProxy(t *testing.T) {
	forwarded := func(address string) []edit {
		return []edit{from(address), header("X-Forwarded-Proto", "https"), header("X-Forwarded-For", "6.6.6.6, 10.7.7.7")}
	}
	for _, c := range []struct {
		what, address, prefix, from string
	}{
		{"the proxy", "10.9.9.9:4711", "__Host-hammr-1763700000000=", "10.7.7.7:0"},
		{"the proxy by IPv6", "[::ffff:10.9.9.9]:4711", "__Host-hammr-1763700000000=", "10.7.7.7:0"},
		{"another client", "10.8.8.8:4711", "hammr-1763700000000=", "10.8.8.8:4711"},
	} {
		r := newRig(t, func(cfg *Config) { cfg.Proxies = []string{"10.9.9.0/24"} })
		answer := r.send("POST", "/login", url.Values{"token": {testToken}, "name": {"ada"}}.Encode(), forwarded(c.address)...)
		r.want(c.what, answer, http.StatusSeeOther)
		if line := answer.Header.Get("Set-Cookie"); !strings.HasPrefix(line, c.prefix) {
			t.Errorf("%s: cookie %s, want %s", c.what, line, c.prefix)
		}
		if list := r.audited(); len(list) != 1 || list[0].From != c.from {
			t.Errorf("%s: records %+v, want one from %s", c.what, list, c.from)
		}
		r.send("GET", "/", "", append(forwarded(c.address), carrying(answer.Cookies()...))...)
		if got := r.lastCaller(); got != holderAda {
			t.Errorf("%s: caller %+v after signing in", c.what, got)
		}
	}
}
