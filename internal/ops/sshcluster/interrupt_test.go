//go:build deploy

package sshcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// bothLabs runs a test with machines that are directories, and with machines that have an sshd.
func bothLabs(t *testing.T, test func(t *testing.T, l *lab)) {
	t.Run("directories", func(t *testing.T) { test(t, newLab(t)) })
	t.Run("sshd", func(t *testing.T) {
		l, _ := newSSHLab(t)
		test(t, l)
	})
}

// wantNothingRuns checks that no daemon has a process.
func (l *lab) wantNothingRuns(when string) {
	l.t.Helper()
	for _, s := range l.states() {
		if !strings.HasSuffix(s, string(Stopped)) && !strings.HasSuffix(s, string(Absent)) {
			l.t.Errorf("%s %s", s, when)
		}
	}
}

// TestInterruptedStart checks that no daemon of a start stays which is interrupted while a
// daemon is not ready.
func TestInterruptedStart(t *testing.T) {
	bothLabs(t, func(t *testing.T, l *lab) {
		good, last := l.text, l.hosts[len(l.hosts)-1]
		l.text = strings.Replace(good, last+"\n", last+" tasknode.act=wait\n", 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error)
		go func() { done <- l.startUntil(ctx) }()
		l.must(syncutil.Poll(t.Context(), 50*time.Millisecond, func(context.Context) (bool, error) {
			return slices.Contains(l.states(), last+" tasknode starting"), nil
		}))
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the interrupted start: %v", err)
		}
		l.wantNothingRuns("after the interruption")
		l.text = good
		l.must(l.start())
		l.want(Running)
	})
}

// startUntil starts the cluster until a context ends.
func (l *lab) startUntil(ctx context.Context) error {
	c, err := l.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(c.Start(ctx), c.Close())
}

// TestStartInterruptedAtAnyTime interrupts starts at different times. No daemon stays, and the
// next start works.
func TestStartInterruptedAtAnyTime(t *testing.T) {
	bothLabs(t, func(t *testing.T, l *lab) {
		l.must(l.start()) // copies the program
		l.must(l.stop())
		begin := time.Now()
		l.must(l.start())
		took := time.Since(begin)
		l.must(l.stop())
		const times = 6
		for i := range times {
			after := took * time.Duration(i) / times
			ctx, cancel := context.WithTimeout(t.Context(), after)
			if err := l.startUntil(ctx); err == nil {
				t.Logf("the start was complete before %v", after)
				l.must(l.stop())
			}
			cancel()
			l.wantNothingRuns(fmt.Sprintf("after an interruption at %v", after))
		}
		l.must(l.start())
		l.want(Running)
	})
}

// TestHalfStarted loses the connection to a machine after a daemon was started there. The error
// names the machine, its daemon is shown, and the next start continues.
func TestHalfStarted(t *testing.T) {
	l := newLab(t)
	good := l.command
	l.command = []string{l.wrapper(fmt.Sprintf("[ $1 != c ] || [ ! -e %s/c/jobmaster.pid ] || { echo 'ssh: connect to host c port 22: No route to host' >&2; exit 255; }", l.dir)), "{host}"}
	l.wantError(l.start(), "c: ssh: connect to host c port 22: No route to host; start the machine and its sshd", "'hammr cluster status' shows those that are left")
	l.command = good
	want := []string{"a jobmaster stopped", "a tasknode stopped", "b jobmaster stopped", "b tasknode stopped", "c jobmaster running", "c tasknode stopped"}
	if got := l.states(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	l.must(l.start())
	l.want(Running)
}

// TestStartsAtTheSameTime checks that two starts make no daemon twice.
func TestStartsAtTheSameTime(t *testing.T) {
	l := newLab(t)
	l.must(l.start())
	for _, daemon := range []string{"a/tasknode", "b/tasknode", "c/jobmaster"} {
		l.signalDaemon(daemon, "KILL")
	}
	first, second := make(chan error), make(chan error)
	go func() { first <- l.startUntil(t.Context()) }()
	go func() { second <- l.startUntil(t.Context()) }()
	l.must(errors.Join(<-first, <-second))
	l.want(Running)
	if n := l.processes("--config\x00" + l.dir); n != 6 {
		t.Errorf("%d daemons run, want 6", n)
	}
	l.must(l.stop())
	l.awaitNoProcess("--config\x00" + l.dir)
}

// TestNoSpace fills the disk of a machine, before the survey and while the program is copied.
func TestNoSpace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root mounts a disk")
	}
	l := newLab(t)
	disk := filepath.Join(l.dir, "b")
	l.must(os.Mkdir(disk, 0o755))
	mount := func(flags uintptr, size string) {
		l.must(syscall.Mount("tmpfs", disk, "tmpfs", flags, "size="+size))
	}
	mount(0, "40m")
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	l.wantError(l.start(), "b: "+disk+" has 40 MiB free and needs ", "; free some space, or choose another directory with dir=")
	l.want(Absent)

	mount(syscall.MS_REMOUNT, "400m")
	good := l.command
	for left, want := range map[string]string{"0": "cannot write " + disk + "/host", "64k": "the program did not arrive in " + disk + "/bin"} {
		const fill = `case "$1 $2" in "b sh -c"*) mkdir -p %[1]s/bin; dd if=/dev/zero of=%[1]s/bin/fill bs=64k 2>/dev/null; truncate -s -%[2]s %[1]s/bin/fill ;; esac`
		l.command = []string{l.wrapper(fmt.Sprintf(fill, disk, left)), "{host}"}
		l.wantError(l.start(), "b: ", "No space left on device", want, "free some space, or choose another directory with dir=")
		l.wantNothingRuns("after the disk was full")
		l.must(os.Remove(disk + "/bin/fill"))
		l.must(os.RemoveAll(disk + "/host"))
	}
	l.command = good
	l.must(l.start())
	l.want(Running)
	l.must(l.stop())
}
