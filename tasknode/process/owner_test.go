package process

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/testing/must"
)

// openTo makes a directory that every user may enter.
func openTo(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "process-")
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must.Do(t, os.Chmod(dir, 0o755))
	return dir
}

func TestTaskOfARootDaemonRunsAsTheUser(t *testing.T) {
	account, err := user.Lookup("nobody")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("needs root and an account named nobody")
	}
	dir := openTo(t)
	self, err := os.Executable()
	must.Do(t, err)
	program := filepath.Join(dir, "program")
	content, err := os.ReadFile(self)
	must.Do(t, err)
	must.Do(t, os.WriteFile(program, content, 0o755))
	start := startMessage(t, "")
	start.User, start.LocalDir = "nobody", filepath.Join(dir, "job_1_0001", taskdir.InJob(start.AttemptId))
	must.Do(t, os.MkdirAll(start.LocalDir, 0o700))
	l := newLauncher(t, Config{
		Programs: fakePrograms{start.Binary: program},
		Environ:  []string{roleEnv + "=who", "HOME=/root", "USER=root"},
	})
	r := launch(t.Context(), t, l, start)
	r.last()
	_ = r.gone()
	want := []string{account.Uid, account.Gid, "HOME=" + account.HomeDir, "USER=nobody", "HADOOP_USER_NAME=nobody"}
	got := strings.Fields(r.log("stdout"))
	for _, w := range want {
		if !strings.Contains(" "+strings.Join(got, " ")+" ", " "+w+" ") {
			t.Errorf("no %s in %q, %s", w, got, r.log("stderr"))
		}
	}
	info, err := os.Stat(filepath.Join(start.LocalDir, "mine"))
	must.Do(t, err)
	if uid := info.Sys().(*syscall.Stat_t).Uid; strconv.Itoa(int(uid)) != account.Uid {
		t.Errorf("file owner %d", uid)
	}
	// The user passes through the directories above its own, but changes nothing there.
	for above := filepath.Dir(start.LocalDir); above != dir; above = filepath.Dir(above) {
		info, err := os.Stat(above)
		must.Do(t, err)
		if uid := info.Sys().(*syscall.Stat_t).Uid; uid != 0 || info.Mode().Perm() != 0o711 {
			t.Errorf("%s has owner %d and mode %v", above, uid, info.Mode())
		}
	}
}

func TestUserWithoutAnAccount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	start := startMessage(t, "")
	start.User = "no-such-user"
	_, err := newLauncher(t, Config{}).Launch(t.Context(), start)
	if err == nil || !strings.Contains(err.Error(), `user "no-such-user", who submitted the job: no account on this machine`) {
		t.Errorf("error %v", err)
	}
}

// TestTaskOfARootDaemonThatKeepsItsUser runs tasks as the daemon's user.
func TestTaskOfARootDaemonThatKeepsItsUser(t *testing.T) {
	start := startMessage(t, "")
	start.User = "no-such-user"
	l := newLauncher(t, Config{RunAsDaemonUser: true, Environ: append(os.Environ(), roleEnv+"=who")})
	r := launch(t.Context(), t, l, start)
	r.last()
	_ = r.gone()
	own := strconv.Itoa(os.Getuid())
	if got := strings.Fields(r.log("stdout")); len(got) == 0 || got[0] != own || !strings.Contains(r.log("stdout"), "HADOOP_USER_NAME=no-such-user") {
		t.Errorf("task runs as %q, want %s first", got, own)
	}
}
