// Command bystander is the program of a user who takes no part in the attacks. It counts words.
// Its first map waits until the file that the property redteam.gate names is removed. So the test
// decides how long the job runs.
package main

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/hammr/hammr/mr"
)

// words is the mapper.
type words struct{ passed bool }

func (w *words) Map(t *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
	if !w.passed && t.Part() == 0 {
		if err := awaitRemoval(t, t.Property("redteam.gate")); err != nil {
			return err
		}
	}
	w.passed = true
	for word := range mr.Words(line) {
		out.Emit(word, 1)
	}
	return nil
}

// awaitRemoval waits until a file is gone.
func awaitRemoval(t *mr.Task, name string) error {
	for {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := t.Sleep(20 * time.Millisecond); err != nil {
			return err
		}
	}
}

func main() {
	job := mr.New("bystander", mr.TextLines(), &words{}, mr.Sum[[]byte, int64](), mr.TextOutput[[]byte, int64]())
	mr.Main(&mr.Program{Name: "bystander", Summary: "Counts words.", Jobs: []mr.Runnable{job}})
}
