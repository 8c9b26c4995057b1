package rpc

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestUserOf sends names in the header and as a caller of another program would.
func TestUserOf(t *testing.T) {
	for name, want := range map[string]string{
		"ada":                          "ada",
		"":                             UnknownUser,
		"ada lovelace/hdfs@REALM":      "ada lovelace/hdfs@REALM",
		"Jürgen":                       "Jürgen",
		"eve\nmsg=audit\x1b[2J":        "eve?msg=audit?[2J",
		strings.Repeat("x", 200):       strings.Repeat("x", 128),
		"a" + strings.Repeat("ü", 100): "a" + strings.Repeat("ü", 63),
	} {
		h := make(http.Header)
		setUser(h, name)
		if got := UserOf(h); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	for raw, want := range map[string]string{"100%": "100%", "a%0ab": "a?b", "%ff": UnknownUser, "\tx": "?x"} {
		if got := UserOf(http.Header{HeaderUser: {raw}}); got != want {
			t.Errorf("header %q: %q, want %q", raw, got, want)
		}
	}
	if got := UserOf(nil); got != UnknownUser {
		t.Errorf("without a header: %q", got)
	}
}

// TestWithUser sends requests by a transport that has a user, for that user and for another one.
func TestWithUser(t *testing.T) {
	var got string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = UserOf(r.Header)
		w.Header().Set(HeaderProtocol, strconv.Itoa(Protocol.Newest))
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	transport := NewTransport(Config{Masters: []string{strings.TrimPrefix(server.URL, "http://")}, Token: "t", User: "hammr ui"})
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	for _, c := range []struct {
		ctx  context.Context
		want string
	}{{t.Context(), "hammr ui"}, {WithUser(t.Context(), "ada@10.0.0.9"), "ada@10.0.0.9"}} {
		r, err := http.NewRequestWithContext(c.ctx, http.MethodGet, server.URL, nil)
		must.Do(t, err)
		answer, err := client.Do(r)
		must.Do(t, err)
		_ = answer.Body.Close() // it is empty
		if got != c.want {
			t.Errorf("the server sees %q, want %q", got, c.want)
		}
	}
}
