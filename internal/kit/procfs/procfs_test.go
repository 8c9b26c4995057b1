package procfs

import (
	"os"
	"os/exec"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestStartTime(t *testing.T) {
	own := StartTime(os.Getpid())
	if own == "" || own != StartTime(os.Getpid()) {
		t.Errorf("this process was started at %q", own)
	}
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	must.Do(t, err)
	must.Do(t, child.Start())
	if StartTime(child.Process.Pid) == "" {
		t.Error("a child that runs has no start time")
	}
	in.Close()
	must.Do(t, child.Wait())
	if at := StartTime(child.Process.Pid); at != "" {
		t.Errorf("a child that has ended was started at %q", at)
	}
}
