package results

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
)

// DecisionLog collects what policies decide about slots, as lines of JSON
// (docs/formats/decisions.md). The zero value is empty. The lines are kept in memory until
// the run has ended, so that a failed run leaves no file.
type DecisionLog struct {
	lines bytes.Buffer
	err   error // of the first decision that could not be encoded
}

// Record makes a run under a policy write its decisions to the log. It takes
// cfg.OnDecision; the field policy distinguishes several runs.
func (d *DecisionLog) Record(cfg *sim.Config, policy string) {
	cfg.OnDecision = func(decision sched.Decision) {
		decision.Policy = policy
		line, err := json.Marshal(decision)
		if err != nil && d.err == nil {
			d.err = err
		}
		d.lines.Write(append(line, '\n'))
	}
}

// Write writes the lines that were recorded. The log is empty afterwards.
func (d *DecisionLog) Write(w io.Writer) error {
	if d.err != nil {
		return d.err
	}
	_, err := d.lines.WriteTo(w)
	return err
}
