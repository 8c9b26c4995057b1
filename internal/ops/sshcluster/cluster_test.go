//go:build deploy

package sshcluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

func TestStartStatusStop(t *testing.T) {
	l := newLab(t)
	l.want(Absent)
	l.must(l.start())
	l.want(Running)
	rows := l.status()
	if len(rows) != 6 || rows[0].Name != "m1" || rows[1].Name != "a" || rows[0].Version != "v1" || rows[0].PID == 0 || rows[0].Address != "a:7070" {
		t.Errorf("%+v", rows)
	}
	if info, err := os.Stat(filepath.Join(l.dir, "b", "token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token on b: %v, %v", info, err)
	}
	mine, err := os.ReadFile(filepath.Join(l.dir, "token"))
	l.must(err)
	if theirs, err := os.ReadFile(filepath.Join(l.dir, "c", "token")); err != nil || !bytes.Equal(mine, theirs) {
		t.Errorf("tokens %q and %q, %v", mine, theirs, err)
	}

	// A second start changes nothing.
	l.lines = nil
	l.must(l.start())
	if again := l.status(); !slices.Equal(rows, again) {
		t.Errorf("before\n%+v, after\n%+v", rows, again)
	}
	if len(l.lines) != 3 || !strings.Contains(l.lines[0], "runs already") {
		t.Errorf("%q", l.lines)
	}

	// A lost local token is that of the machines.
	l.must(os.Remove(filepath.Join(l.dir, "token")))
	l.must(l.start())
	if now, err := os.ReadFile(filepath.Join(l.dir, "token")); err != nil || !bytes.Equal(mine, now) {
		t.Errorf("token %q, %v; want %q", now, err, mine)
	}

	l.must(l.stop())
	l.want(Stopped)
	id := l.read("a/cluster")
	l.must(l.start())
	l.want(Running)
	if l.read("a/cluster") != id {
		t.Error("the cluster has another id after it was stopped")
	}
}

// TestStartAddsMachines checks that machines of an old cluster keep their roles.
func TestStartAddsMachines(t *testing.T) {
	l := newLab(t)
	all := l.text
	l.text = strings.Replace(all, "a\nb\n", "", 1) // c is alone
	l.must(l.start())
	l.text = all
	l.must(l.start())
	if got, want := l.states(), []string{"a tasknode running", "b tasknode running", "c jobmaster running", "c tasknode running"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFailedStartEndsWhatItStarted(t *testing.T) {
	l := newLab(t)
	good := l.text
	l.text = strings.Replace(good, "b\n", "b tasknode.act=fail\n", 1)
	err := l.start()
	l.wantError(err, "b: the tasknode has ended", "the model fails", l.dir+"/b/tasknode.log")
	l.want(Stopped)
	l.text = good
	l.must(l.start())
	l.want(Running)
}

// TestFailedStartKeepsWhatRan checks that a start which fails does not end the daemons of an
// earlier one.
func TestFailedStartKeepsWhatRan(t *testing.T) {
	l := newLab(t)
	l.must(l.start())
	l.signalDaemon("b/tasknode", "KILL")
	good := l.text
	l.text = strings.Replace(good, "b\n", "b tasknode.act=fail\n", 1)
	l.wantError(l.start(), "b: the tasknode has ended")
	for _, s := range l.states() {
		if want := map[bool]State{true: Stopped, false: Running}[s[:10] == "b tasknode"]; !strings.HasSuffix(s, string(want)) {
			t.Errorf("%s, want %s", s, want)
		}
	}
	l.text = good
	l.must(l.start())
	l.want(Running)
}

// TestStubbornDaemonsAreKilled checks that a daemon which ignores SIGTERM does not stay.
func TestStubbornDaemonsAreKilled(t *testing.T) {
	l := newLab(t)
	l.text = strings.Replace(l.text, "c\n", "c tasknode.act=stay\n", 1)
	l.must(l.start())
	c := l.config()
	c.Timeout = time.Second
	cluster, err := Open(t.Context(), c)
	l.must(err)
	l.must(cluster.Stop(t.Context(), true, 0))
	l.must(cluster.Close())
	l.want(Stopped)
}

func TestRefusedStarts(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(l *lab)
		want    []string
	}{
		"foreign directory": {func(l *lab) { l.write("b/photo", "x") }, []string{"b: ", "/b has other files in it and no cluster; choose another"}},
		"shared directory": {func(l *lab) { l.text = strings.ReplaceAll(l.text, "{host}", "same") }, []string{
			"is also the directory of", "give each machine its own",
		}},
		"not a directory": {func(l *lab) { l.write("b", "x") }, []string{"b: ", "is not a directory of the user"}},
		"two clusters":    {func(l *lab) { l.write("a/cluster", "7"); l.write("c/cluster", "8") }, []string{"7 has a; 8 has c"}},
		"unreachable": {func(l *lab) {}, []string{
			"b: ssh: connect to host b port 22: Connection timed out; start the machine and its sshd, or remove its line",
		}},
		"no shell": {func(l *lab) {}, []string{"b: incomplete answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			c.prepare(l)
			cfg := l.config()
			switch name {
			case "unreachable":
				cfg.Shell = []string{l.wrapper("[ $1 != b ] || { echo 'ssh: connect to host b port 22: Connection timed out' >&2; exit 255; }"), "{host}"}
			case "no shell":
				cfg.Shell = []string{l.wrapper("[ $1 != b ] || { echo 'This account is not available.'; exit; }"), "{host}"}
			}
			cluster, err := Open(t.Context(), cfg)
			if err == nil {
				err = cluster.Start(t.Context())
				l.must(cluster.Close())
			}
			l.wantError(err, c.want...)
			if files, _ := filepath.Glob(l.dir + "/*/*.pid"); len(files) > 0 {
				t.Errorf("daemons were started: %q", files)
			}
		})
	}
}

// wrapper returns a shell that runs a command first, which has the machine as $1.
func (l *lab) wrapper(command string) string {
	file := filepath.Join(l.t.TempDir(), "shell")
	l.must(os.WriteFile(file, []byte("#!/bin/sh\n"+command+"\nexec sh -c \"$2\"\n"), 0o755))
	return file
}

// otherProgram returns a copy of the program that has another hash.
func (l *lab) otherProgram() string {
	text, err := os.ReadFile(l.program)
	l.must(err)
	file := filepath.Join(l.t.TempDir(), "hammr")
	l.must(os.WriteFile(file, append(text, "other"...), 0o755))
	return file
}

func TestTwoVersionsAreRefused(t *testing.T) {
	l := newLab(t)
	l.must(l.start())
	before := l.status()
	l.program = l.otherProgram()
	l.wantError(l.start(), "a: its jobmaster runs another program, hammr v1 (model); use 'hammr cluster upgrade'", "c: its tasknode runs another")
	if after := l.status(); !slices.Equal(before, after) {
		t.Errorf("before\n%+v, after\n%+v", before, after)
	}
	l.must(l.stop())
	l.must(l.start()) // stopped daemons may change
	if after := l.status(); after[0].Program == before[0].Program {
		t.Error("the old program runs")
	}
}

// TestTruncatedCopy checks that a program which arrives incomplete is not used.
func TestTruncatedCopy(t *testing.T) {
	l := newLab(t)
	c, err := l.open(t.Context())
	l.must(err)
	defer c.Close()
	h := &c.plan.Hosts[0]
	prog, err := openProgram(l.program)
	l.must(err)
	_, err = prog.stream()
	l.must(err)
	_, err = c.shell.feed(t.Context(), h, c.plan.script(h, "receive "+prog.hash), bytes.NewReader(prog.compressed[:len(prog.compressed)/2]))
	l.wantError(err, "the program did not arrive in "+h.Dir)
	if files, _ := filepath.Glob(h.Dir + "/bin/*"); len(files) > 0 {
		t.Errorf("files are left: %q", files)
	}
	l.must(l.start()) // the directory with bin alone is no obstacle
}

// TestTruncatedScript checks that a script that is cut off does nothing.
func TestTruncatedScript(t *testing.T) {
	l := newLab(t)
	c, err := l.open(t.Context())
	l.must(err)
	defer c.Close()
	h := &c.plan.Hosts[0]
	script := c.plan.script(h, "claim", putCall(`"$etc/token"`, "600", "a secret\n"), putCall(`"$dir/hosts"`, "644", c.plan.Hostfile()))
	for _, length := range []int{len(script) - 6, len(script) - 60, strings.Index(script, "secret")} {
		c.shell.run(t.Context(), h, script[:length]) // dash reports a syntax error; other shells may not
		if _, err := os.Stat(h.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("the first %d of %d bytes of a script did something: %v", length, len(script), err)
		}
	}
	_, err = c.shell.run(t.Context(), h, script)
	l.must(err)
	if got := l.read("a/token"); got != "a secret\n" {
		t.Errorf("token %q", got)
	}
}

func TestDryRun(t *testing.T) {
	l := newLab(t)
	var out bytes.Buffer
	cfg := l.config()
	cfg.DryRun = &out
	c, err := Open(t.Context(), cfg)
	l.must(err)
	l.must(c.Start(t.Context()))
	l.must(c.Close())
	for _, want := range []string{"# b: sh -c sh -s\ndir='" + l.dir + "/b'", "put \"$etc/token\" 600", "launch jobmaster", "await tasknode 20", "receive "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	for _, name := range []string{"a", "b", "c", "token"} {
		if _, err := os.Stat(filepath.Join(l.dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s after a dry run: %v", name, err)
		}
	}
}

func TestReload(t *testing.T) {
	l := newLab(t)
	l.text = strings.Replace(l.text, "* ", "* jobmaster.act=reload tasknode.act=reload ", 1)
	l.must(l.start())
	before := l.status()
	l.text = strings.Replace(l.text, "slots=2", "slots=5", 1)
	l.must(l.with(func(c *Cluster) error { return c.Reload(t.Context()) }))
	l.must(syncutil.Poll(t.Context(), 20*time.Millisecond, func(context.Context) (bool, error) {
		files, err := filepath.Glob(l.dir + "/*/*.reloaded")
		return len(files) == 6, err
	}))
	if s, err := readSettings(l.dir + "/b/tasknode.yaml"); err != nil || s["map-slots"] != "5" {
		t.Errorf("%v, %v", s, err)
	}
	if after := l.status(); !slices.Equal(before, after) {
		t.Errorf("before\n%+v, after\n%+v", before, after)
	}
}

// TestReloadOfDaemonsThatCannot checks that SIGHUP ends no daemon.
func TestReloadOfDaemonsThatCannot(t *testing.T) {
	l := newLab(t)
	l.must(l.start())
	l.wantError(l.with(func(c *Cluster) error { return c.Reload(t.Context()) }), "b: the jobmaster does not reload its settings; restart it, or upgrade it")
	l.want(Running)
}

// TestUnsharedStaging checks that a staging directory which a machine does not see is found
// out before anything starts.
func TestUnsharedStaging(t *testing.T) {
	l := newLab(t)
	cfg := l.config()
	cfg.Shell = []string{l.wrapper(`[ $1 != b ] || { sed "s#-e '#-e '/nowhere#" | sh -s; exit; }`), "{host}"}
	c, err := Open(t.Context(), cfg)
	l.must(err)
	l.wantError(c.Start(t.Context()), "b: it does not see "+l.dir+" of a; --staging must be on a file system that all machines see")
	l.must(c.Close())
	l.want(Absent)
	if files, _ := filepath.Glob(l.dir + "/.hammr-*"); len(files) > 0 {
		t.Errorf("files are left: %q", files)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	l := newLab(t)
	cfg := l.config()
	cfg.Check = func(role string, settings map[string]string) error {
		if role == hostfile.Tasknode && settings["name"] == "b" {
			return errors.New("wrong")
		}
		return nil
	}
	c, err := Open(t.Context(), cfg)
	l.must(err)
	l.wantError(c.Start(t.Context()), "b: settings of the tasknode: wrong")
	l.must(c.Close())
	l.want(Absent)
}
