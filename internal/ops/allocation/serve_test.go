package allocation

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/testing/must"
)

// connection is Serve in this process, as Run sees it.
type connection struct {
	t        *testing.T
	in       *io.PipeWriter
	requests *json.Encoder
	answers  *json.Decoder
	served   chan error
}

func newConnection(t *testing.T) *connection {
	t.Helper()
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	c := &connection{t, requests, json.NewEncoder(requests), json.NewDecoder(answers), make(chan error, 1)}
	starter := procfs.NewStarter()
	go func() {
		c.served <- Serve(t.Context(), ServeConfig{Program: []string{os.Args[0]}, Starter: starter, In: in, Out: out})
		starter.Close()
	}()
	return c
}

func (c *connection) ask(q request) answer {
	c.t.Helper()
	must.Do(c.t, c.requests.Encode(q))
	return c.next()
}

func (c *connection) next() (a answer) {
	c.t.Helper()
	must.Do(c.t, c.answers.Decode(&a))
	return a
}

func (c *connection) end() {
	c.t.Helper()
	c.in.Close()
	if err := <-c.served; err != nil {
		c.t.Error(err)
	}
}

func TestServe(t *testing.T) {
	c := newConnection(t)
	base := t.TempDir()
	t.Setenv("LOCAL_BASE", base)
	link := filepath.Join(t.TempDir(), "n1")
	saved := filepath.Join(t.TempDir(), "n1")
	info, err := saveTree(t.Context(), newTree(t), saved)
	must.Do(t, err)
	// Files that an allocation has left which could not end are removed.
	old := filepath.Join(base, "n1-1", "old")
	must.Do(t, errors.Join(os.MkdirAll(old, 0o700), os.Symlink(filepath.Dir(old), link)))
	a := c.ask(request{Open: &openRequest{Place: place{Link: link, Base: "$LOCAL_BASE"}, Saved: saved, Want: info}})
	if a.Error != "" || a.Tree != info || a.MemoryMB == 0 {
		t.Errorf("open: %+v, want %+v", a, info)
	}
	if _, err := os.Stat(old); err == nil {
		t.Errorf("%s is left", old)
	}
	made, err := os.Readlink(link)
	must.Do(t, err)
	local := filepath.Join(link, diskDir, tasksDir)
	if got := len(files(t, local+"/.")); got != info.Files {
		t.Errorf("%d files in %s, want %d", got, local, info.Files)
	}

	ready, logs := filepath.Join(link, "model.ready"), t.TempDir()
	start := func(act string, timeout time.Duration) answer {
		d := launch.Daemon{Name: "d-" + act, ReadyFile: ready, LogFile: filepath.Join(logs, act+".log")}
		return c.ask(request{Start: &startRequest{Daemon: d, Args: []string{"model", act, ready}, Timeout: timeout}})
	}
	a = start("serve", time.Minute)
	if a.Error != "" || a.Ready.Address != "here:1" {
		t.Errorf("start: %+v", a)
	}
	if a := start("wait", 50*time.Millisecond); !strings.Contains(a.Error, "d-wait is not ready: timed out after 50ms") {
		t.Errorf("a daemon that does not become ready: %+v", a)
	}
	said := "d-fail ended: exit status 1; the end of its log, " + logs + "/fail.log:"
	if a := start("fail", time.Minute); a.Ended != "" || !strings.Contains(a.Error, said) || !strings.Contains(a.Error, "/fail.err:\n  the model fails") {
		t.Errorf("a daemon that fails: %+v", a) // and nothing else is sent: the next answer is that of the next request
	}
	if a := c.ask(request{Tool: []string{"tool", "restore"}}); !strings.Contains(a.Error, "tool restore: exit status 3: the tool fails") {
		t.Errorf("a tool that fails: %+v", a)
	}
	if a := c.ask(request{}); !strings.Contains(a.Error, "use the same program on all nodes") {
		t.Errorf("an unknown request: %+v", a)
	}
	if a := c.ask(request{Port: true}); a.Error != "" || !strings.Contains(a.Address, ":") {
		t.Errorf("a port: %+v", a)
	}
	to := filepath.Join(t.TempDir(), "n1")
	if a := c.ask(request{Save: &saveRequest{From: local, To: to}}); a.Error != "" || a.Tree != info {
		t.Errorf("save: %+v, want %+v", a, info)
	}
	if a := c.ask(request{Stop: "d-serve"}); a.Error != "" {
		t.Errorf("stop: %+v", a)
	}
	if a := c.ask(request{Stop: "d-serve"}); a.Error != "daemon d-serve was not started here" {
		t.Errorf("stop again: %+v", a)
	}
	c.end()
	for _, path := range []string{link, made} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}

// TestPlaceOfAnotherUser opens a place where another user has made what earlier allocations have
// made there: it is neither used nor removed, and stops no allocation.
func TestPlaceOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give files to another user")
	}
	base, link := t.TempDir(), filepath.Join(t.TempDir(), "n1")
	const stranger = 54321
	bait := filepath.Join(base, "n1-1")
	err := errors.Join(os.Mkdir(bait, 0o777), os.WriteFile(filepath.Join(bait, "kept"), nil, 0o600), os.Lchown(bait, stranger, stranger), os.Symlink(bait, link))
	must.Do(t, err)
	dir, err := new(server).makePlace(place{Link: link, Base: base})
	if err != nil || dir == bait {
		t.Fatalf("made %s: %v", dir, err)
	}
	if info, err := os.Stat(link); err != nil || !isOwn(info) || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory of the link: %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(bait, "kept")); err != nil {
		t.Errorf("the other user's directory was removed: %v", err)
	}
	must.Do(t, errors.Join(os.Remove(link), os.Symlink(dir, link), os.Lchown(link, stranger, stranger)))
	if _, err := new(server).makePlace(place{Link: link, Base: base}); err == nil || !strings.Contains(err.Error(), "not a link of this user: remove it") {
		t.Errorf("a link of another user: %v", err)
	}
}

// TestADaemonThatEndsIsReported kills a daemon.
func TestADaemonThatEndsIsReported(t *testing.T) {
	c := newConnection(t)
	pid := filepath.Join(t.TempDir(), "ready")
	a := c.ask(request{Start: &startRequest{Daemon: launch.Daemon{Name: "m1", ReadyFile: pid}, Args: []string{"model", "serve", pid}, Timeout: time.Minute}})
	if a.Error != "" {
		t.Fatal(a.Error)
	}
	children, err := exec.Command("pgrep", "-f", "model serve "+pid).Output()
	must.Do(t, err)
	number, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err == nil {
		err = syscall.Kill(number, syscall.SIGKILL)
	}
	must.Do(t, err)
	if a := c.next(); a.Ended != "m1" || a.Cause != "signal: killed" {
		t.Errorf("%+v", a)
	}
	c.end()
}

// TestAForeignLinkIsNotReplaced refuses a name in /tmp that is not a link of this user.
func TestAForeignLinkIsNotReplaced(t *testing.T) {
	c := newConnection(t)
	link := filepath.Join(t.TempDir(), "n1")
	must.Do(t, os.Mkdir(link, 0o700))
	if a := c.ask(request{Open: &openRequest{Place: place{Link: link, Base: t.TempDir()}}}); a.Error != link+" is not a link of this user: remove it" {
		t.Errorf("%+v", a)
	}
	c.end()
}

// TestAStepThatEnds checks the errors of Run for a node that fails.
func TestAStepThatEnds(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"at once":  {"echo gone >&2; exit 7", "node a: the step with its daemons has ended: exit status 7"},
		"garbage":  {"echo this is no answer; cat", "node a: the step with its daemons has ended: invalid character"},
		"no shell": {"", "node a: the step with its daemons has ended: exit status 127"},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr sharedBuffer
			shell := Shell{"sh", "-c", c.script, "{host}"}
			if c.script == "" {
				shell = Shell{"sh", "-c"}
			}
			m, err := connect(t.Context(), shell, Node{Host: "a"}, []string{"/none/hammr"}, &lineWriter{prefix: "a: ", to: &sharedWriter{to: &stderr}}, func(string, string) {})
			must.Do(t, err)
			if name == "garbage" {
				m.in.Close()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			<-m.broken
			if _, err := m.ask(ctx, request{Port: true}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if name == "at once" && string(stderr.text) != "a: gone\n" {
				t.Errorf("stderr %q", stderr.text)
			}
			_ = m.close()
		})
	}
}

// sharedBuffer keeps what is written to it.
type sharedBuffer struct{ text []byte }

// Write implements io.Writer.
func (b *sharedBuffer) Write(p []byte) (int, error) {
	b.text = append(b.text, p...)
	return len(p), nil
}

func TestLaunchers(t *testing.T) {
	n := Node{Host: "b7", Cores: 4}
	for want, l := range map[string]Launcher{
		"srun --overlap --nodes=1 --ntasks=1 --cpus-per-task=4 --mem=0 --nodelist=b7 --unbuffered --quiet -- /bin/it's x": Srun{},
		`ssh -p 1 b7 exec '/bin/it'\''s' 'x'`: Shell{"ssh", "-p", "1", "{host}"},
	} {
		if got := strings.Join(l.Command(t.Context(), n, []string{"/bin/it's", "x"}).Args, " "); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	if _, err := ParseShell(" "); err == nil {
		t.Error("an empty shell is accepted")
	}
}
