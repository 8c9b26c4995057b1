package process

import (
	"os"
	"os/exec"
	"testing"
)

// BenchmarkStart measures a task, and a bare start of the same program. The difference is
// the cost of the launcher, the control socket and one map over three lines.
func BenchmarkStart(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		self, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			bare := exec.Command(self)
			bare.Env = append(os.Environ(), bareEnv+"=1")
			if err := bare.Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("task", func(b *testing.B) {
		l := newLauncher(b, Config{})
		for b.Loop() {
			b.StopTimer()
			start := startMessage(b, "")
			b.StartTimer()
			r := launch(b.Context(), b, l, start)
			if r.last().GetFinished() == nil {
				b.Fatal("not done")
			}
			<-r.task.Exited()
			r.end.Close()
		}
	})
}
