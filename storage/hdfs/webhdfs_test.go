package hdfs

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	krb "github.com/jcmturner/gokrb5/v8/client"
	krbconf "github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/keytab"
)

// TestRequestsWithKerberosShareAClient sends requests at the same time to a NameNode that
// needs no new ticket for them. They share a cookie, and no request changes the client of
// another: the race detector would report that.
func TestRequestsWithKerberosShareAClient(t *testing.T) {
	var known atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("hadoop.auth"); err == nil {
			known.Add(1)
		}
		http.SetCookie(w, &http.Cookie{Name: "hadoop.auth", Value: "known"})
		_, _ = w.Write([]byte("{}")) // the client reports an error
	}))
	defer server.Close()
	cfg := Config{HTTPAddresses: []string{strings.TrimPrefix(server.URL, "http://")}}
	cfg.EnsureDefaults()
	web := newWebHDFS(&cfg, krb.NewWithKeytab("u", "R", keytab.New(), krbconf.New()))
	defer web.close()
	call := func() {
		if err := web.call(t.Context(), http.MethodGet, "/f", url.Values{}, nil); err != nil {
			t.Error(err)
		}
	}
	call()
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(call)
	}
	calls.Wait()
	if known.Load() != 8 {
		t.Errorf("%d of 8 requests have the cookie of the first", known.Load())
	}
}

func TestServicePrincipal(t *testing.T) {
	for principal, want := range map[string]string{
		"": "HTTP/nn.example.org", "HTTP/_HOST@REALM": "HTTP/nn.example.org", "HTTP/gateway@REALM": "HTTP/gateway", "web/_HOST": "web/nn.example.org",
	} {
		if got := servicePrincipal(principal, "NN.example.org"); got != want {
			t.Errorf("%q: %q, want %q", principal, got, want)
		}
	}
}
