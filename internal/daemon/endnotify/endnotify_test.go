package endnotify

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestAddresses(t *testing.T) {
	cfg := Config{
		Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.9/32"), netip.MustParsePrefix("169.254.1.0/24")},
		Interfaces: func() ([]net.Addr, error) {
			return []net.Addr{&net.IPNet{IP: net.IPv4(192, 0, 2, 2), Mask: net.CIDRMask(24, 32)}, &net.IPNet{IP: net.ParseIP("2001:db8::2"), Mask: net.CIDRMask(64, 128)}}, nil
		},
	}
	for address, refused := range map[string]bool{
		"127.0.0.1:80": true, "127.9.9.9:80": true, "[::1]:80": true, "169.254.169.254:80": true, "[fe80::1]:80": true, "0.0.0.0:80": true,
		"[::ffff:127.0.0.1]:80": true, "[::ffff:169.254.169.254]:80": true, "224.0.0.1:80": true, "nonsense": true,
		"10.0.0.1:80": false, "192.0.2.7:8080": false, "[2001:db8::1]:443": false, "192.0.2.2:80": true, "[::ffff:192.0.2.2]:80": true, "[2001:db8::2]:80": true,
		"[fd00:ec2::254]:80": true, "[fd20:ce::254]:80": true, "168.63.129.16:80": true, "100.100.100.200:80": true, "192.0.0.192:80": true, "0.1.2.3:80": true,
		"[64:ff9b::169.254.169.254]:80": true, "[64:ff9b::7f00:1]:80": true, "[64:ff9b::192.0.2.2]:80": true, "[64:ff9b::10.0.0.1]:80": false, "[64:ff9b:1::1]:80": true,
		"127.0.0.9:80": false, "169.254.1.1:80": false, // permitted
	} {
		if err := cfg.check(address); errors.Is(err, ErrAddress) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
	cfg.Interfaces = func() ([]net.Addr, error) { return nil, errors.New("no netlink") }
	if err := cfg.check("10.0.0.1:80"); !errors.Is(err, ErrAddress) {
		t.Errorf("the addresses of the machine are not known: %v", err)
	}
}

func TestGet(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/ok", http.StatusFound)
		case "/failed":
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer server.Close()
	c := New(Config{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Timeout: time.Second})
	for path, want := range map[string]string{"/ok": "", "/moved": "status 302", "/failed": "status 500"} {
		err := c.Get(t.Context(), server.URL+path)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if asked != 3 {
		t.Errorf("%d requests, want 3: redirections must not be followed", asked)
	}
	refusing := New(Config{})
	for _, url := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
		if err := refusing.Get(t.Context(), url); !errors.Is(err, ErrAddress) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if asked != 3 {
		t.Error("a refused address was asked")
	}
	for _, url := range []string{"ftp://192.0.2.7/", "://", "http://"} {
		if err := refusing.Get(t.Context(), url); err == nil {
			t.Errorf("%s: no error", url)
		}
	}
}
