package tasknode

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// TestMessageThatCannotBeReadFailsItsAttempt sends what is not a message. The attempt fails with
// the cause, and nothing of the message is passed on to the master.
func TestMessageThatCannotBeReadFailsItsAttempt(t *testing.T) {
	for want, frame := range map[string][]byte{
		"message of the task: taskproc: message too long: a length of 9437184 bytes was announced, the limit is 8388608": binary.AppendUvarint(nil, 9<<20),
		"message of the task: taskproc: decoding of FromTask":                                                            {3, 0xff, 0xff, 0xff},
	} {
		run(t, func(b *rig) {
			task := b.start(taskproc.Kind_MAP)
			if _, err := task.raw.Write(frame); err != nil {
				t.Fatal(err)
			}
			task.end(nil)
			if f := (<-b.reports).GetFailed(); !strings.Contains(f.GetCause(), want) {
				t.Errorf("the attempt has failed because of %v, want %q", f, want)
			}
		})
	}
}
