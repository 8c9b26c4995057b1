package rpc

import (
	"net/http"
	"strings"
	"testing"
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

func TestUserName(t *testing.T) {
	t.Setenv("HADOOP_USER_NAME", "ada")
	if got := UserName(); got != "ada" {
		t.Errorf("with HADOOP_USER_NAME: %q", got)
	}
	t.Setenv("HADOOP_USER_NAME", "")
	if got := UserName(); got == "" || got == "ada" {
		t.Errorf("without it: %q", got)
	}
}
