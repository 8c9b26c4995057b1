package doctor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/conf"
)

func TestReadDaemon(t *testing.T) {
	t.Run("jobmaster", func(t *testing.T) {
		file := write(t, filepath.Join(t.TempDir(), "m.yaml"), "masters: [m1=a, 'm2=b:7'] # first\nid: m1\ncluster-id: 7\ndir: /log\ntoken-file: /token\nstall-timeout: 3s\n")
		d := ReadDaemon(file, conf.New())
		if d.Err != nil {
			t.Fatal(d.Err)
		}
		want := Dir{Path: "/log", Use: LogFiles, MinFree: minLogFree, Slow: 3e9}
		if d.Kind != Jobmaster || d.Name != "m1" || d.Advertise != "a:7070" || len(d.Dirs) != 1 || d.Dirs[0] != want ||
			!slices.Equal(d.Masters, []string{"a:7070", "b:7"}) || !strings.HasSuffix(d.Staging, "/tmp/hammr/staging") || d.Address != ":7070" {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("tasknode", func(t *testing.T) {
		file := write(t, filepath.Join(t.TempDir(), "n.yaml"), "name: n1\nmasters: a,b:7\ndir: /dir\ntoken-file: /token\nmin-free: 1k\nmin-uid: 5\n")
		d := ReadDaemon(file, conf.New())
		if d.Err != nil {
			t.Fatal(d.Err)
		}
		if d.Kind != Tasknode || d.Name != "n1" || len(d.Dirs) != 2 || d.Dirs[0].Use != Programs || d.Dirs[1].Path != "/dir" ||
			d.Dirs[1].MinFree != 1024 || d.Tasknode.MinUID != 5 || !slices.Equal(d.Masters, []string{"a:7070", "b:7"}) {
			t.Errorf("got %+v", d)
		}
	})
	t.Run("variables of a client do not count", func(t *testing.T) {
		t.Setenv("HAMMR_TOKEN_FILE", "/other")
		d := ReadDaemon(write(t, filepath.Join(t.TempDir(), "n.yaml"), "name: n1\nmasters: a\ndir: /dir\ntoken-file: /token\n"), conf.New())
		if d.Err != nil || d.TokenFile != "/token" {
			t.Errorf("got %+v", d)
		}
	})
	for text, want := range map[string]string{
		"id: m1\ndir: /log\n":                             "--token-file is missing",
		"name: n1\ndir: [\n":                              "malformed YAML",
		"id: m1\nslots: 3\n":                              "no such setting",
		"id: m1\ndir: /\ncluster-id: x\ntoken-file: /t\n": "expected a number",
	} {
		if d := ReadDaemon(write(t, filepath.Join(t.TempDir(), "bad.yaml"), text), conf.New()); d.Err == nil || !strings.Contains(d.Err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, d.Err, want)
		}
	}
	if d := ReadDaemon("/no/such.yaml", conf.New()); d.Err == nil || !strings.Contains(d.Err.Error(), "/no/such.yaml") {
		t.Errorf("a missing file: %v", d.Err)
	}
}
