package testcluster

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// TestChildren checks that children returns the children of this process only.
func TestChildren(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if found := children(os.Getpid()); !slices.Equal(found, []int{cmd.Process.Pid}) {
		t.Errorf("children are %v, want %d", found, cmd.Process.Pid)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if found := children(os.Getpid()); len(found) != 0 {
		t.Errorf("children are %v", found)
	}
}
