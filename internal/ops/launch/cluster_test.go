package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestSettings compares the settings of both daemons, as flags and as a file.
func TestSettings(t *testing.T) {
	c := &Cluster{ID: "7", Masters: []Master{{"m1", "a:1"}, {"m2", "b:1"}}, Staging: "file:///s"}
	master := c.Jobmaster(Daemon{Name: "m1", Dir: "/d", Address: ":1", HTTP: ":2", TokenFile: "/t", LogFile: "/l", ReadyFile: "/r"})
	want := "--address :1 --cluster-id 7 --dir /d --http :2 --id m1 --masters m1=a:1,m2=b:1 --staging file:///s --token-file /t"
	if got := strings.Join(master.Flags(), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	tasknode := c.Tasknode(Daemon{Name: `n"1`, Dir: "/d", Advertise: "a:3"}, 4, 2)
	want = `advertise: "a:3"` + "\n" + `cluster-id: "7"` + "\n" + `dir: "/d"` + "\n" + `map-slots: "4"` + "\n" + `masters: "a:1,b:1"` + "\n" +
		`name: "n\"1"` + "\n" + `reduce-slots: "2"` + "\n"
	if got := tasknode.YAML(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestEnsureToken checks that a token is made once, and that one which others may change is refused.
func TestEnsureToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	var tokens [2]string
	for i := range tokens {
		must.Do(t, EnsureToken(file))
		var err error
		if tokens[i], err = rpc.ReadToken(file); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 || len(tokens[0]) < 20 || tokens[0] != tokens[1] {
		t.Errorf("tokens %q, %v, %v", tokens, info, err)
	}
	if err := WriteToken(file, "other"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second token: %v", err)
	}
	must.Do(t, os.Chmod(file, 0o666))
	if err := EnsureToken(file); err == nil {
		t.Error("a token that all users may change is used")
	}
}
