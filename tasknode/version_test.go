package tasknode

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc/protocol"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestProgramsOfOtherVersions runs programs of several versions. One without a common version
// with the tasknode fails its job at once; any other does its work.
func TestProgramsOfOtherVersions(t *testing.T) {
	finished := &taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: new(taskproc.Finished)}}
	for name, c := range map[string]struct {
		hello *taskproc.Hello // nil for a program that sends none
		want  string          // part of the cause; "" if the attempt finishes
	}{
		"the same":      {&taskproc.Hello{OldestVersion: 2, NewestVersion: 3}, ""},
		"one older":     {&taskproc.Hello{OldestVersion: 1, NewestVersion: 2}, ""},
		"one newer":     {&taskproc.Hello{OldestVersion: 3, NewestVersion: 4}, ""},
		"too new":       {&taskproc.Hello{OldestVersion: 4, NewestVersion: 5}, "the program speaks version 4 to 5"},
		"without hello": {nil, "the program speaks version 1 of the messages between tasknodes and programs, and the tasknode version 2 to 3; the program is too old"},
	} {
		t.Run(name, func(t *testing.T) {
			change := func(cfg *Config) { cfg.Protocol = protocol.Versions{Oldest: 2, Newest: 3} }
			runOn(t, nil, change, func(b *rig) {
				task := b.start(taskproc.Kind_MAP)
				if c.hello != nil {
					must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Hello{Hello: c.hello}}))
				}
				err := task.Send(finished)
				if c.want == "" && err != nil {
					t.Fatal(err)
				}
				task.end(nil)
				r := <-b.reports
				f := r.GetFailed()
				if c.want == "" && r.GetFinished() == nil || c.want != "" && (!f.GetFatal() || !strings.Contains(f.GetCause(), c.want)) {
					t.Errorf("report is %v", r)
				}
			})
		})
	}
}
