package daemon_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/testing/must"
)

// testConfig is a daemon's configuration.
type testConfig struct {
	id     string
	policy string
	slots  int
	beat   time.Duration
	pprof  bool
	dirs   []string
}

func (c *testConfig) settings() daemon.Settings {
	*c = testConfig{}
	return daemon.Settings{
		daemon.String("id", &c.id, "", "`name`").Required(),
		daemon.Choice("policy", &c.policy, "fifo", "`name`", "fifo", "fair"),
		daemon.Int("map-slots", &c.slots, 2, 0, "`number`"),
		daemon.Duration("heartbeat", &c.beat, time.Second, "`time`"),
		daemon.Bool("pprof", &c.pprof, "profiles"),
		daemon.Strings("dir", &c.dirs, []string{"/a", "/b"}, "`directories`").Check(func(dir string) error {
			if !strings.HasPrefix(dir, "/") {
				return errors.New("expected an absolute path")
			}
			return nil
		}),
	}
}

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "hammr.yaml")
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestDefaults(t *testing.T) {
	var c testConfig
	must.Do(t, c.settings().Load(daemon.Sources{Flags: map[string]string{"id": "m1"}}))
	if c.policy != "fifo" || c.slots != 2 || c.beat != time.Second || c.pprof || !slices.Equal(c.dirs, []string{"/a", "/b"}) {
		t.Errorf("got %+v", c)
	}
}

// TestEnsureDefaultsKeepsValues sets a field before and one after the defaults.
func TestEnsureDefaultsKeepsValues(t *testing.T) {
	var c testConfig
	settings := c.settings()
	c.slots = 5
	settings.EnsureDefaults()
	if c.beat = 0; c.slots != 5 || c.policy != "fifo" || !slices.Equal(c.dirs, []string{"/a", "/b"}) {
		t.Errorf("got %+v", c)
	}
	c.id = "m1"
	if err := settings.Validate(); err != nil || c.beat != 0 {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestValidateReportsEveryError(t *testing.T) {
	var c testConfig
	settings := c.settings()
	c.policy, c.slots, c.beat, c.dirs = "best", -1, -time.Second, []string{"/a", "b", "c"}
	want := []string{
		"--id is missing", `--policy: "best": expected one of fifo, fair`, `--map-slots: "-1": expected a whole number of at least 0`,
		`--heartbeat: "-1s": expected a time such as 500ms or 10s`, `--dir: "b": expected an absolute path`, `--dir: "c": expected an absolute path`,
	}
	if err := settings.Validate(); err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

func TestFlagWinsOverVariableWinsOverFile(t *testing.T) {
	var c testConfig
	err := c.settings().Load(daemon.Sources{
		Flags: map[string]string{"id": "flag", "pprof": "true"},
		Env:   env("HAMMR_ID", "variable", "HAMMR_MAP_SLOTS", "7", "HAMMR_POLICY", ""),
		File:  file(t, "id: file\nmap-slots: 9\npolicy: FAIR # any case\nheartbeat: 250\ndir:\n  - /x\n  - /y\n"),
	})
	must.Do(t, err)
	if c.id != "flag" || c.slots != 7 || c.policy != "fair" || c.beat != 250*time.Millisecond || !c.pprof || !slices.Equal(c.dirs, []string{"/x", "/y"}) {
		t.Errorf("got %+v", c)
	}
}

func TestEveryErrorNamesItsSource(t *testing.T) {
	var c testConfig
	name := file(t, "map-slots: many\nno-such: 1\nheartbeat: {a: 1}\ndir:\n")
	err := c.settings().Load(daemon.Sources{
		Flags: map[string]string{"policy": "best", "map-slots": "-1"},
		Env:   env("HAMMR_HEARTBEAT", "0s", "HAMMR_PPROF", "perhaps"),
		File:  name,
	})
	want := []string{
		name + `:1: map-slots: "many": expected a whole number of at least 0`,
		name + ":2: no-such: no such setting; --help lists them",
		name + ":3: heartbeat: expected a value or a list of values",
		name + ":4: dir: a value is missing",
		`environment variable HAMMR_HEARTBEAT: "0s": expected a time such as 500ms or 10s`,
		`environment variable HAMMR_PPROF: "perhaps": expected true or false`,
		`--policy: "best": expected one of fifo, fair`,
		`--map-slots: "-1": expected a whole number of at least 0`,
		"--id is missing; set it, or HAMMR_ID, or id in the file of --config",
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

func TestMalformedFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":               "",
		"# only words\n": "",
		"---\n":          "",
		"- a\n":          "line 1: expected a setting and its value",
		"just words":     "line 1: expected a setting and its value",
		"id: [":          "malformed YAML",
		"id: a\nid: b\n": "malformed YAML",
	} {
		var c testConfig
		err := c.settings().Load(daemon.Sources{Flags: map[string]string{"id": "m1"}, File: file(t, text)})
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	var c testConfig
	if err := c.settings().Load(daemon.Sources{File: "/no/such.yaml"}); err == nil || !strings.Contains(err.Error(), "/no/such.yaml") {
		t.Errorf("a missing file: %v", err)
	}
}

// FuzzFile parses arbitrary files. A file may be refused, with a message.
func FuzzFile(f *testing.F) {
	f.Add([]byte("id: a\ndir: [x, y]\n"))
	f.Add([]byte("id: |\n  text\n  more\n&a b: *a\n"))
	f.Add([]byte("? a\n: b\n--- !!tag\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "f")
		must.Do(t, os.WriteFile(name, data, 0o600))
		var c testConfig
		if err := c.settings().Load(daemon.Sources{File: name}); err != nil && err.Error() == "" {
			t.Error("an error without a message")
		}
	})
}

func TestSizes(t *testing.T) {
	var size int64
	s := daemon.Size("min-free", &size, 100<<20, 0, "`bytes`")
	if s.Default != "100m" {
		t.Errorf("the default is %q", s.Default)
	}
	for text, want := range map[string]int64{"10g": 10 << 30, "1000": 1000, "0": 0} {
		if err := (daemon.Settings{s}).Load(daemon.Sources{Flags: map[string]string{"min-free": text}}); err != nil || size != want {
			t.Errorf("%s is %d, %v", text, size, err)
		}
		if again := daemon.Size("x", new(int64), size, 0, "").Default; again != text {
			t.Errorf("%s is typed as %s", text, again)
		}
	}
	for _, text := range []string{"-1", "1.5g", "g"} {
		if err := (daemon.Settings{s}).Load(daemon.Sources{Flags: map[string]string{"min-free": text}}); err == nil {
			t.Errorf("%s is %d", text, size)
		}
	}
}

func TestListItemsMayContainCommas(t *testing.T) {
	for text, want := range map[string][]string{
		daemon.EscapeItem("/a, b,"):               {"/a, b,"},
		"/x," + daemon.EscapeItem(",y") + " , /z": {"/x", ",y", "/z"},
		`/back\slash`: {`/back\slash`},
		" , ,":        nil,
		daemon.EscapeItem("1,2") + "," + daemon.EscapeItem("3,"): {"1,2", "3,"},
	} {
		var c testConfig
		if err := c.settings().Load(daemon.Sources{Flags: map[string]string{"id": "m1", "dir": text}}); err != nil || !slices.Equal(c.dirs, want) {
			t.Errorf("%q: %q, %v; want %q", text, c.dirs, err, want)
		}
	}
	var c testConfig
	if err := c.settings().Load(daemon.Sources{File: file(t, "id: a\ndir: ['/a,b', /c]\n")}); err != nil || !slices.Equal(c.dirs, []string{"/a,b", "/c"}) {
		t.Errorf("from a file: %q, %v", c.dirs, err)
	}
}
