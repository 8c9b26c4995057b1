package redteam

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// account is a user of this machine that the test has made.
type account struct {
	name     string
	uid, gid int
}

// reasonToSkip returns why the test cannot make accounts, "" if it can.
func reasonToSkip() string {
	if os.Geteuid() != 0 {
		return "needs root, to make accounts and to start tasknodes that change their user"
	}
	for _, program := range []string{"useradd", "userdel"} {
		if _, err := exec.LookPath(program); err != nil {
			return "needs " + program
		}
	}
	return ""
}

// accountPrefix begins the names of accounts; the id of the test's process and a letter follow.
const accountPrefix = "hammr-red-"

// newAccount makes an account, which is deleted at the end of the test.
func newAccount(t *testing.T, suffix string) account {
	t.Helper()
	deleteAbandoned(t)
	name := accountPrefix + strconv.Itoa(os.Getpid()) + suffix
	must.Do(t, manage(t.Context(), "useradd", "--no-create-home", "--no-user-group", "--shell", "/usr/sbin/nologin", name))
	t.Cleanup(func() {
		if err := manage(context.WithoutCancel(t.Context()), "userdel", name); err != nil {
			t.Error(err)
		}
	})
	entry, err := user.Lookup(name)
	must.Do(t, err)
	uid, err := strconv.Atoi(entry.Uid)
	must.Do(t, err)
	gid, err := strconv.Atoi(entry.Gid)
	must.Do(t, err)
	if uid < 1000 {
		t.Fatalf("useradd gives %s the uid %d", name, uid)
	}
	return account{name, uid, gid}
}

// manage runs useradd or userdel. Another process may have locked the files of accounts.
func manage(ctx context.Context, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var last error
	err := testcluster.Poll(ctx, func(context.Context) (bool, error) {
		out, err := exec.Command(program, args...).CombinedOutput()
		last = nil
		if err != nil {
			last = fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, out)
		}
		if last != nil && !strings.Contains(string(out), "try again later") {
			return false, last
		}
		return last == nil, nil
	})
	return errors.Join(err, last)
}

// deleteAbandoned deletes accounts of tests that were killed.
func deleteAbandoned(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("/etc/passwd")
	must.Do(t, err)
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(line, ":")
		rest, is := strings.CutPrefix(name, accountPrefix)
		pid, err := strconv.Atoi(strings.TrimRight(rest, "am"))
		if is && err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			must.Do(t, manage(t.Context(), "userdel", name))
		}
	}
}

// own makes the account the owner of files.
func (a account) own(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		must.Do(t, os.Lchown(name, a.uid, a.gid))
	}
}

// credential returns the rights of the account for a process.
func (a account) credential() *syscall.Credential {
	return &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid), Groups: []uint32{uint32(a.gid)}}
}
