package testcluster

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestChildren checks that children returns the children of this process only.
func TestChildren(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	if found := children(os.Getpid()); !slices.Equal(found, []int{cmd.Process.Pid}) {
		t.Errorf("children are %v, want %d", found, cmd.Process.Pid)
	}
	in.Close()
	must.Do(t, cmd.Wait())
	if found := children(os.Getpid()); len(found) != 0 {
		t.Errorf("children are %v", found)
	}
}
