package rpc

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestTokenIsFound(t *testing.T) {
	t.Setenv(TokenFileVariable, "")
	dir := t.TempDir()
	s := TokenStore{filepath.Join(dir, "hammr")}
	find := func(file string, masters ...string) string {
		t.Helper()
		token, id, err := s.Find(file, masters)
		if err != nil {
			return err.Error()
		}
		return token + " of " + id
	}
	check := func(got, want string) {
		t.Helper()
		if !strings.HasPrefix(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
	check(find("", "a:1"), "no token for the cluster of a:1; name its file with --token-file or HAMMR_TOKEN_FILE")
	for cluster, masters := range map[string][]string{"17": {"a:1", "b:1"}, "18": {"c:1"}} {
		must.Do(t, s.Save(cluster, "secret-of-cluster-"+cluster, masters))
	}
	check(find("", "b:1"), "secret-of-cluster-17 of 17")
	check(find("", "x:1", "c:1"), "secret-of-cluster-18 of 18")

	if err := s.Save("19", "secret-of-cluster-19", []string{"b:1"}); err != nil { // another cluster uses the port now
		t.Fatal(err)
	}
	must.Do(t, s.Forget("17"))
	check(find("", "a:1"), "no token")
	check(find("", "b:1"), "secret-of-cluster-19 of 19")

	file := filepath.Join(dir, "token")
	must.Do(t, os.WriteFile(file, []byte(" given-in-this-file\n"), 0o600))
	check(find(file, "b:1"), "given-in-this-file of ")
	t.Setenv(TokenFileVariable, file)
	check(find("", "b:1"), "given-in-this-file of ")
	check(find(filepath.Join(dir, "missing"), "b:1"), "file of the cluster's token: ")
}

func TestTokensAreTheUsersAlone(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, (TokenStore{dir}).Save("17", "secret", []string{"a:1"}))
	for _, name := range []string{"tokens/17", "masters/a:1"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	left, err := os.ReadDir(filepath.Join(dir, "tokens"))
	if err != nil || len(left) != 1 {
		t.Errorf("%d files, %v", len(left), err)
	}
}

func TestInvalidTokenFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	for name, content := range map[string]string{
		"empty": "\n", "two words": "a b\n", "binary": "\x00\xff", "large": strings.Repeat("x", 5000), "short": strings.Repeat("x", 15),
	} {
		must.Do(t, os.WriteFile(file, []byte(content), 0o600))
		if token, err := ReadToken(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: token %q, %v", name, token, err)
		}
	}
}

// TestTokenFilesOfOthersAreRefused reads a token that other users can read or change.
func TestTokenFilesOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "token")
	must.Do(t, os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600))
	for mode, fine := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o620: false, 0o666: false} {
		must.Do(t, os.Chmod(file, mode))
		token, err := ReadToken(file)
		if fine && (err != nil || token != "0123456789abcdef") || !fine && (err == nil || !strings.Contains(err.Error(), "chmod 600 "+file)) {
			t.Errorf("mode %o: %q, %v", mode, token, err)
		}
	}
	s := TokenStore{filepath.Join(dir, "hammr")}
	must.Do(t, s.Save("17", "secret-of-cluster-17", []string{"a:1"}))
	must.Do(t, os.Chmod(filepath.Join(dir, "hammr", "tokens", "17"), 0o644))
	t.Setenv(TokenFileVariable, "")
	if _, _, err := s.Find("", []string{"a:1"}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a saved token that others can read: %v", err)
	}
}

// fileOf is a file with a mode and an owner.
type fileOf struct {
	fs.FileInfo
	mode  fs.FileMode
	owner uint32
}

func (f fileOf) Mode() fs.FileMode { return f.mode }
func (f fileOf) Sys() any          { return &syscall.Stat_t{Uid: f.owner} }

// TestTheGroupMayReadTokensOfRoot has the modes that the volume of a Kubernetes Secret may have.
func TestTheGroupMayReadTokensOfRoot(t *testing.T) {
	for _, c := range []struct {
		mode   fs.FileMode
		owner  uint32
		reader int
		others bool
	}{
		{0o440, 0, 65532, false},
		{0o640, 0, 65532, false},
		{0o440, 0, 0, true}, // root needs no group
		{0o440, 65532, 65532, true},
		{0o460, 0, 65532, true},
		{0o444, 0, 65532, true},
		{0o400, 0, 65532, false},
	} {
		if got := OthersCanUse(fileOf{mode: c.mode, owner: c.owner}, c.reader); got != c.others {
			t.Errorf("mode %o, owner %d, reader %d: others can use it: %v", c.mode, c.owner, c.reader, got)
		}
	}
}

func TestClusterIDsAreNotPaths(t *testing.T) {
	s := TokenStore{t.TempDir()}
	for _, id := range []string{"", ".", "..", "../x", "a/b", `a\b`} {
		if s.Save(id, "t", nil) == nil || s.Forget(id) == nil {
			t.Errorf("cluster id %q is taken", id)
		}
	}
}
