package tasknode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
)

// TestRemovalFollowsNoLink removes directories in which a task exchanges a subdirectory and
// a link to another user's directory, as fast as it can.
func TestRemovalFollowsNoLink(t *testing.T) {
	for round := range 30 {
		dir := t.TempDir()
		theirs, attempt := filepath.Join(dir, "theirs"), filepath.Join(dir, "job", "attempt")
		sub, link := filepath.Join(attempt, "sub"), filepath.Join(attempt, "link")
		err := errors.Join(os.Mkdir(theirs, 0o700), os.MkdirAll(sub, 0o700), os.Symlink(theirs, link))
		names := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
		for _, name := range names {
			err = errors.Join(err, os.WriteFile(filepath.Join(theirs, name), nil, 0o600), os.WriteFile(filepath.Join(sub, name), nil, 0o600))
		}
		must.Do(t, err)
		stop := make(chan struct{})
		var task sync.WaitGroup
		task.Go(func() {
			for !isClosed(stop) {
				_ = unix.Renameat2(unix.AT_FDCWD, sub, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE) // until they are gone
			}
		})
		for range 3 {
			_ = removeTree(filepath.Join(dir, "job")) // a directory that changes may not be empty at the end
		}
		close(stop)
		task.Wait()
		if left, err := os.ReadDir(theirs); err != nil || len(left) != len(names) {
			t.Fatalf("round %d: %d of %d files of the other user are left, %v", round, len(left), len(names), err)
		}
	}
}

// TestRemovalOfALinkKeepsItsTarget puts a link in the place of a job's directory.
func TestRemovalOfALinkKeepsItsTarget(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, errors.Join(os.MkdirAll(dir+"/theirs/sub", 0o700), os.Symlink(dir+"/theirs", dir+"/job")))
	must.Do(t, errors.Join(removeTree(dir+"/job"), removeTree(dir+"/missing"), removeTree(dir+"/missing/too")))
	if _, err := os.Lstat(dir + "/job"); err == nil {
		t.Error("the link is left")
	}
	if _, err := os.Stat(dir + "/theirs/sub"); err != nil {
		t.Errorf("target of the link: %v", err)
	}
}

// TestFilesOfTasksAreOpenedOnlyIfRegular opens what a task could have put in the place of a
// file: each call returns at once, with an error.
func TestFilesOfTasksAreOpenedOnlyIfRegular(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	err := errors.Join(
		os.WriteFile(file, []byte("12345"), 0o600), os.Symlink(file, filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "dir"), 0o700),
		unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600), os.Symlink("/dev/zero", filepath.Join(dir, "zero")),
	)
	must.Do(t, err)
	if b, err := readBounded(file, 5); string(b) != "12345" || err != nil {
		t.Errorf("file: %q, %v", b, err)
	}
	if b, err := readBounded(file, 4); err == nil || !strings.Contains(err.Error(), "more than 4") {
		t.Errorf("long file: %q, %v", b, err)
	}
	for _, path := range []string{filepath.Join(dir, "link"), filepath.Join(dir, "dir"), filepath.Join(dir, "fifo"), filepath.Join(dir, "zero"), "/dev/zero"} {
		if b, err := readBounded(path, 1<<30); err == nil {
			t.Errorf("%s: read %d bytes", path, len(b))
		}
	}
}

// TestRecordsNameOnlyFilesOfTheirAttempt checks records of tasks that name a file elsewhere.
// Nothing is opened there: the FIFO would keep the daemon from starting.
func TestRecordsNameOnlyFilesOfTheirAttempt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), attemptID)
	elsewhere := filepath.Join(t.TempDir(), "map.out")
	err := errors.Join(os.Mkdir(dir, 0o700), unix.Mkfifo(shuffle.IndexPath(elsewhere), 0o600), unix.Mkfifo(filepath.Join(dir, "index"), 0o600))
	must.Do(t, err)
	for _, path := range []string{elsewhere, dir + "/../" + filepath.Base(elsewhere), dir + "/..", dir, "", "map.out"} {
		checked := make(chan error, 1)
		go func() {
			checked <- checkRecord(dir, &wire.Report{AttemptId: attemptID, Report: &wire.Report_Finished{Finished: &taskproc.Finished{
				Outputs: []*taskproc.MapOutput{{Attempt: attemptID, Path: path}},
			}}})
		}()
		select {
		case err := <-checked:
			if !errors.Is(err, errBadRecord) {
				t.Errorf("path %q: %v", path, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("path %q: the check waits for a writer of a FIFO", path)
		}
	}
}

// TestAttemptThatNamesFilesElsewhereFails reports segments and a checkpoint outside of the
// attempt's directory.
func TestAttemptThatNamesFilesElsewhereFails(t *testing.T) {
	for name, m := range map[string]*taskproc.FromTask{
		"segments":   {Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{Outputs: []*taskproc.MapOutput{{Path: "/etc/shadow"}}}}},
		"checkpoint": {Message: &taskproc.FromTask_Checkpointed{Checkpointed: &taskproc.Checkpointed{Checkpoint: &taskproc.Checkpoint{Path: "/etc/shadow"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *rig) {
				task := b.start(taskproc.Kind_MAP)
				must.Do(t, task.Send(m))
				task.end(nil)
				if r := <-b.reports; !strings.Contains(r.GetFailed().GetCause(), "/etc/shadow") {
					t.Errorf("report %v", r)
				}
			})
		})
	}
}
