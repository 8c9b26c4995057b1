package process

import (
	"os"
	"os/exec"
	"testing"
)

// What a task costs beside a bare start of the same program: the difference
// between the two is what the launcher, the control socket and one map over
// three lines take.
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
			if r.last().GetDone() == nil {
				b.Fatal("not done")
			}
			<-r.task.Exited()
			r.end.Close()
		}
	})
}
