package sshcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnMachines checks that a machine gets the program before its first command, and that it keeps
// the program of daemons that run.
func TestOnMachines(t *testing.T) {
	l := newLab(t)
	onMachines := func(copyProgram bool, names ...string) (out []string, err error) {
		err = l.with(func(c *Cluster) error {
			return c.OnMachines(t.Context(), names, `[ -e "$program" ] && say program yes || say program no`, copyProgram, func(host, text string) {
				out = append(out, host+" "+strings.TrimSpace(text))
			})
		})
		return out, err
	}
	for _, c := range []struct {
		copyProgram bool
		want        string
	}{{false, "[b program=no]"}, {true, "[b program=yes]"}} {
		if out, err := onMachines(c.copyProgram, "b"); err != nil || fmt.Sprint(out) != c.want {
			t.Errorf("%v: %v, %v, want %s", c.copyProgram, out, err, c.want)
		}
	}
	_, err := onMachines(true, "b", "z")
	l.wantError(err, `no machine "z" in the hostfile`)

	l.must(l.start())
	if out, err := onMachines(true); err != nil || len(out) != 3 {
		t.Errorf("all machines: %v, %v", out, err)
	}
	l.must(l.with(func(c *Cluster) error {
		for _, daemon := range []string{"c", "m3"} {
			if dir, err := c.Run(context.Background(), daemon, `say dir "$dir"`); err != nil || dir != "dir="+filepath.Join(l.dir, "c")+"\n" {
				t.Errorf("%s is in %s: %v", daemon, dir, err)
			}
		}
		if _, err := c.Run(context.Background(), "m9", ":"); err == nil {
			t.Error("there is no m9")
		}
		if list := c.Plan().Daemons(); len(list) != 6 || list[5].Page != "c:7081" || list[5].Start != "launch tasknode" {
			t.Errorf("%+v", list)
		}
		return nil
	}))
	program, err := os.ReadFile(l.program)
	l.must(err)
	l.program = filepath.Join(t.TempDir(), "other")
	l.must(os.WriteFile(l.program, append(program, 0), 0o755))
	_, err = onMachines(true, "a")
	l.wantError(err, "a: its jobmaster runs another program")
}
