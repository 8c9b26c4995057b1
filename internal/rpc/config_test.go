package rpc

import (
	"slices"
	"strings"
	"testing"
)

func TestParseMasters(t *testing.T) {
	for list, want := range map[string][]string{
		"a":               {"a:7070"},
		"a:1, b,c:65535,": {"a:1", "b:7070", "c:65535"},
		"[::1]:7070":      {"[::1]:7070"},
	} {
		got, err := ParseMasters(list)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %v, %v", list, got, err)
		}
	}
	for _, list := range []string{"", ",", "a:", ":7070", "a:b", "a:0", "a:70000", "::1", "http://a:7070"} {
		if got, err := ParseMasters(list); err == nil {
			t.Errorf("%q is taken as %v", list, got)
		}
	}
}

func TestEveryProblemIsReported(t *testing.T) {
	_, err := New(Config{Masters: []string{"a", "b:1", "c"}, Timeout: -1})
	for _, want := range []string{`"a"`, `"c"`, "Timeout"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in %v", want, err)
		}
	}
}

// FuzzIsSettingsPrefix compares the check of a connection's first bytes, one by one,
// with the header of a SETTINGS frame.
func FuzzIsSettingsPrefix(f *testing.F) {
	f.Add([]byte("HTTP/1.1 400"))
	f.Add([]byte{0, 0, 18, 4, 0, 0, 0, 0, 0})
	f.Add([]byte{0, 0, 18, 4, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, received []byte) {
		received = received[:min(len(received), settingsHeaderBytes)]
		pattern := []byte{0, 'x', 'x', 4, 0, 0, 0, 0, 0} // x matches any byte
		want := true
		for i, b := range received {
			want = want && (pattern[i] == 'x' || pattern[i] == b)
			if got := isSettingsPrefix(received[:i+1]); got != want {
				t.Errorf("%x: %v, want %v", received[:i+1], got, want)
			}
		}
		if guessProtocol(received) == "" {
			t.Error("a speaker without a name")
		}
	})
}

func TestIsAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"m1:7070": true, "10.0.0.1:1": true, "[2001:db8::1]:65535": true, "a_b-c.example:80": true,
		"": false, "m1": false, "m1:": false, "m1:0": false, "m1:65536": false, ":80": false, "m1:http": false,
		"evil.example/x?:80": false, "evil.example/:80": false, "evil#:80": false, "user@evil.example:80": false, "a b:80": false, "http://evil.example:80": false, "evil\n:80": false,
	} {
		if got := IsAddress(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
