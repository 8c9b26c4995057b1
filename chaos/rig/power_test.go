package rig

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestPowerLoss checks that a power loss takes what was not synced, and keeps what was, also names.
// It runs itself again in a mount namespace of its own.
func TestPowerLoss(t *testing.T) {
	if Isolated() {
		must.Do(t, EnterIsolation())
		losePowerOnce(t)
		return
	}
	if err := canLosePower(); err != nil || os.Geteuid() != 0 {
		t.Skip(err, "and root")
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestPowerLoss$")
	Isolate(cmd)
	runtime.LockOSThread() // the child ends with the thread that has started it
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func losePowerOnce(t *testing.T) {
	dir := t.TempDir()
	i := image{file: filepath.Join(dir, "image"), dir: filepath.Join(dir, "disk")}
	must.Do(t, os.Mkdir(i.dir, 0o755))
	must.Do(t, i.create(16<<20))
	file := func(name string) string { return filepath.Join(i.dir, name) }
	log, err := os.Create(file("log"))
	must.Do(t, err)
	write := func(text string, sync bool) {
		t.Helper()
		_, err := log.WriteString(text)
		must.Do(t, err)
		if sync {
			must.Do(t, log.Sync())
		}
	}
	write("kept ", true)
	must.Do(t, os.WriteFile(file("old"), nil, 0o600))
	write("synced ", true) // the name old is in the same journal
	write("lost", false)
	must.Do(t, os.Rename(file("old"), file("new")))
	must.Do(t, os.WriteFile(file("made"), []byte("x"), 0o600))
	must.Do(t, log.Close())

	must.Do(t, i.losePower(t.Context()))
	if text, err := os.ReadFile(file("log")); err != nil || string(text) != "kept synced " {
		t.Errorf("the log is %q: %v", text, err)
	}
	if names, err := os.ReadDir(i.dir); err != nil || len(names) != 2 || names[0].Name() != "log" || names[1].Name() != "old" {
		t.Errorf("after a rename and a new file without a sync: %v, %v", names, err)
	}
	must.Do(t, exec.Command("umount", i.dir).Run())
}
