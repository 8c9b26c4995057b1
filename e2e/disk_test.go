package e2e

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// smallDisk mounts a file system of the given size, which requires root.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("e2e", dir, "tmpfs", 0, "size="+size+",mode=0755"); err != nil {
		t.Skipf("no small disk: mount: %v", err)
	}
	t.Cleanup(func() { must.Do(t, syscall.Unmount(dir, 0)) })
	return dir
}

// TestDiskFull runs jobs with too little disk space for spills, and for the output.
func TestDiskFull(t *testing.T) {
	in := binaryLines(t, "in", 12<<20)
	for name, c := range map[string]struct {
		local bool // the disk of the spills is small
		file  string
		hint  string
	}{
		"spilling": {true, ".out", "free disk space there, or set mapreduce.cluster.local.dir"},
		"output":   {false, "_r_000000_", "free disk space there, or write to another place"},
	} {
		t.Run(name, func(t *testing.T) {
			disk, other := smallDisk(t, "4m"), t.TempDir()
			local, out := filepath.Join(other, "local"), filepath.Join(disk, "out")
			if c.local {
				local, out = filepath.Join(disk, "local"), filepath.Join(other, "out")
			}
			r := run(t, "run", "sort", "-D", "mapreduce.cluster.local.dir="+local,
				"-D", "mapreduce.task.io.sort.mb=2", "-r", "1", in, out)
			r.want(t, 1, "no space left on device", disk, c.file, c.hint)
			noOutput(t, out)
			wantNames(t, local)
			if !c.local {
				wantNames(t, disk)
			}
		})
	}
}
