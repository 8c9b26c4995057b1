package procfs

import (
	"os"
	"os/exec"
	"testing"
)

func TestStartTime(t *testing.T) {
	own := StartTime(os.Getpid())
	if own == "" || own != StartTime(os.Getpid()) {
		t.Errorf("this process was started at %q", own)
	}
	child := exec.Command("cat")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if StartTime(child.Process.Pid) == "" {
		t.Error("a child that runs has no start time")
	}
	in.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if at := StartTime(child.Process.Pid); at != "" {
		t.Errorf("a child that has ended was started at %q", at)
	}
}
