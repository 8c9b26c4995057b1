package doctor

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestDirectories(t *testing.T) {
	base := t.TempDir()
	file, missing := write(t, filepath.Join(base, "file"), ""), filepath.Join(base, "a", "b")
	target := newTarget(t)
	expect(t, run(t, target, "directories"), want{Skipped, "--dir"})
	expect(t, run(t, target, "disk-space"), want{Skipped, "no directory that exists"})
	target.Dirs = []string{base, file, missing, filepath.Join(file, "x"), base}
	expect(t, run(t, target, "directories"), want{OK, "writable"}, want{Fault, "not a directory"}, want{Warn, "does not exist"}, want{Fault, "not a directory"})
	entries, err := os.ReadDir(base)
	if err != nil || len(entries) != 1 {
		t.Errorf("the check left %v, %v", entries, err)
	}
	Run(t.Context(), target, Options{Only: []string{"directories"}, Fix: true})
	target.Dirs = []string{missing}
	expect(t, run(t, target, "directories"), want{OK, "writable"})
}

// TestSharedDisk has a master's log and local files of tasks on one disk.
func TestSharedDisk(t *testing.T) {
	base := t.TempDir()
	target := newTarget(t)
	target.Daemons = []Daemon{
		{Kind: Jobmaster, Name: "m1", Dirs: []Dir{{Path: base, Use: LogFiles}}},
		{Kind: Tasknode, Name: "n1", Dirs: []Dir{{Path: filepath.Join(base, "n1"), Use: LocalFiles}}},
	}
	expect(t, run(t, target, "directories"), want{OK, "writable"}, want{Warn, "does not exist"}, want{Warn, "on the same disk"})
	if sameDisk(base, "/proc") {
		t.Error("/proc is on a disk")
	}
}

// TestBrokenDirectories mounts file systems that are broken in different ways.
func TestBrokenDirectories(t *testing.T) {
	if !isChild(t) {
		runChild(t, inNamespaces)
		return
	}
	dir := t.TempDir()
	target := newTarget(t)
	as := func(use DirUse) { target.Daemons = []Daemon{{Kind: Tasknode, Dirs: []Dir{{Path: dir, Use: use}}}} }

	mount(t, dir, syscall.MS_NOEXEC, "")
	as(LocalFiles)
	expect(t, run(t, target, "directories"), want{OK, "writable"})
	as(Programs)
	expect(t, run(t, target, "directories"), want{Fault, "noexec"})
	as(LogFiles)
	expect(t, run(t, target, "directories"), want{Warn, "tmpfs"})

	mount(t, dir, syscall.MS_RDONLY, "")
	expect(t, run(t, target, "directories"), want{Fault, "not writable"})
	expect(t, run(t, target, "disk-latency"), want{Skipped, "read-only"})

	mount(t, dir, 0, "size=128k")
	as(LocalFiles)
	expect(t, run(t, target, "disk-space"), want{OK, "0 MiB of 0 MiB free"})
	write(t, filepath.Join(dir, "large"), string(make([]byte, 124<<10)))
	expect(t, run(t, target, "disk-space"), want{Warn, "free"})
	write(t, filepath.Join(dir, "rest"), string(make([]byte, 4<<10)))
	expect(t, run(t, target, "disk-space"), want{Fault, "at least 1 MiB"})
	expect(t, run(t, target, "disk-latency"), want{Skipped, "no space"})

	mount(t, dir, 0, "size=64m,nr_inodes=3")
	expect(t, run(t, target, "disk-space"), want{OK, "64 MiB free"})
	target.Daemons[0].Dirs[0].MinFree = 65 << 20
	expect(t, run(t, target, "disk-space"), want{Fault, "at least 65 MiB"})
	target.Daemons[0].Dirs[0].MinFree = 0
	write(t, filepath.Join(dir, "1"), "")
	write(t, filepath.Join(dir, "2"), "")
	expect(t, run(t, target, "disk-space"), want{Fault, "0 of 3 inodes free"})
	expect(t, run(t, target, "directories"), want{Fault, "no space"})
}

func TestJudgeSpace(t *testing.T) {
	d := Dir{Path: "/d", MinFree: 10 << 20}
	for _, c := range []struct {
		s    space
		want want
	}{
		{space{free: 60 << 20, total: 100 << 20}, want{OK, "60 MiB of 100 MiB"}},
		{space{free: 10 << 20, total: 100 << 20}, want{OK, "10 MiB"}},
		{space{free: 10<<20 - 1, total: 100 << 20}, want{Fault, "at least 10 MiB"}},
		{space{free: 11 << 20, total: 1 << 30}, want{Warn, "11 MiB of 1024 MiB"}},
		{space{free: 1 << 30, total: 1 << 30, files: 1000, freeFiles: 50}, want{OK, "free"}},
		{space{free: 1 << 30, total: 1 << 30, files: 1000, freeFiles: 49}, want{Warn, "49 of 1000 inodes"}},
		{space{free: 1 << 30, total: 1 << 30, files: 1000}, want{Fault, "0 of 1000 inodes"}},
	} {
		expect(t, []Finding{judgeSpace(d, c.s)}, c.want)
	}
}

// TestLatency makes the disk slow as a drill does.
func TestLatency(t *testing.T) {
	drills, err := failpoint.Open(t.TempDir())
	must.Do(t, err)
	defer drills.Close()
	dir := t.TempDir()
	target := newTarget(t)
	limit := func(slow time.Duration) {
		target.Daemons = []Daemon{{Kind: Tasknode, Dirs: []Dir{{Path: dir, Slow: slow}}}}
	}
	limit(time.Hour)
	expect(t, run(t, target, "disk-latency"), want{OK, "a synchronous write takes"})
	must.Do(t, drills.SlowDisk(50*time.Millisecond))
	expect(t, run(t, target, "disk-latency"), want{OK, "a synchronous write takes"})
	limit(50 * time.Millisecond)
	expect(t, run(t, target, "disk-latency"), want{Fault, "the limit is 50ms"})
	must.Do(t, drills.IOErrors(1))
	expect(t, run(t, target, "disk-latency"), want{Skipped, "injected by a drill"})
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("the check left %v, %v", entries, err)
	}
}

func TestJudgeLatency(t *testing.T) {
	times := make([]time.Duration, 200)
	for i := range times {
		times[i] = time.Millisecond
	}
	d := Dir{Path: "/d", Slow: time.Second}
	times[0] = time.Hour // one of 200 is above the 99th percentile
	expect(t, []Finding{judgeLatency(d, times)}, want{OK, "takes 1ms"})
	times[1], times[2] = 100*time.Millisecond, time.Hour
	expect(t, []Finding{judgeLatency(d, times)}, want{Warn, "at most 100ms; the limit is 1s"})
	times[1] = time.Second
	expect(t, []Finding{judgeLatency(d, times)}, want{Fault, "at most 1s"})
	expect(t, []Finding{judgeLatency(Dir{Path: "/d"}, times)}, want{OK, "at most 1s"})
}
