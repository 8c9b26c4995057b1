package tasknoded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/kit/owndir"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// recordRestart records the result of a request to restart.
func (d *Daemon) recordRestart(r Restarted) {
	path := filepath.Join(d.cfg.Dir, restartFile)
	before, err := readRestart(d.cfg.Dir)
	if err == nil {
		r.Number = before.Number + 1
		err = jsonfile.Write(path, r, 0o644)
	}
	if err != nil {
		d.cfg.Logger.Error("cannot record the restart", "error", err)
	}
}

// readRestart reads the result of the last request; its number is 0 if there was none.
func readRestart(dir string) (r Restarted, err error) {
	err = jsonfile.Read(filepath.Join(dir, restartFile), &r)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r, err
}

// RequestRestart restarts the tasknode of this machine that uses a directory, in place. It
// returns when the new program runs. The error says why the old program continues.
func RequestRestart(ctx context.Context, dir string) (Restarted, error) {
	pid, err := userOf(dir)
	if err != nil {
		return Restarted{}, err
	}
	before, err := readRestart(dir)
	if err != nil {
		return Restarted{}, err
	}
	if err := syscall.Kill(pid, syscall.SIGUSR2); err != nil {
		return Restarted{}, fmt.Errorf("signal to the tasknode in %s, process %d: %w", dir, pid, err)
	}
	var after Restarted
	err = syncutil.Poll(ctx, 20*time.Millisecond, func(context.Context) (bool, error) {
		var err error
		after, err = readRestart(dir)
		if err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			err = fmt.Errorf("the tasknode in %s, process %d, has ended; see its log", dir, pid)
		}
		return after.Number > before.Number, err
	})
	switch {
	case ctx.Err() != nil:
		return after, fmt.Errorf("no answer from the tasknode in %s, process %d: %w; see its log", dir, pid, context.Cause(ctx))
	case err == nil && after.Error != "":
		err = errors.New(after.Error)
	}
	return after, err
}

// userOf returns the process of the tasknode that uses a directory.
func userOf(dir string) (pid int, err error) {
	path := filepath.Join(dir, lockFile)
	lock, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%s is not the --dir of a tasknode: it has no file %s", dir, lockFile)
	}
	if err != nil {
		return 0, err
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return 0, fmt.Errorf("no tasknode runs in %s; start one with 'hammr tasknode --dir %[1]s'", dir)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("%s does not name the process of the tasknode; it may be of an older version that cannot be restarted in place", path)
	}
	return pid, checkOwner(dir, pid)
}

// checkOwner refuses a process of another user than the owner of the directory, who may have
// written any id into it.
func checkOwner(dir string, pid int) error {
	var owners [2]int
	for i, name := range []string{dir, fmt.Sprintf("/proc/%d", pid)} {
		info, err := os.Stat(name)
		if err == nil {
			owners[i], err = owndir.Owner(info)
		}
		if err != nil {
			return fmt.Errorf("tasknode in %s, process %d: %w", dir, pid, err)
		}
	}
	if owners[0] != owners[1] {
		return fmt.Errorf("%s belongs to uid %d, and names process %d of uid %d, which cannot be its tasknode", dir, owners[0], pid, owners[1])
	}
	return nil
}

// recordPID writes the id of this process to the lock file.
func recordPID(lock *os.File) error {
	if err := lock.Truncate(0); err != nil {
		return err
	}
	_, err := lock.WriteAt(fmt.Appendln(nil, os.Getpid()), 0)
	return err
}
