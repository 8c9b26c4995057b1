package main

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
)

// simDecisions is what the policies of the first run have decided about slots, as
// lines of JSON (docs/formats/decisions.md). Only what is asked for is kept.
type simDecisions struct {
	wanted bool
	lines  bytes.Buffer
	fault  error // of the first decision that is no JSON
}

// hear has a run under a policy tell what it decides.
func (d *simDecisions) hear(cfg *sim.Config, policy string) {
	if !d.wanted {
		return
	}
	cfg.OnDecision = func(one sched.Decision) {
		one.Policy = policy
		line, err := json.Marshal(one)
		if err != nil && d.fault == nil {
			d.fault = err
		}
		d.lines.Write(append(line, '\n'))
	}
}

func (d *simDecisions) write(w io.Writer) error {
	if d.fault != nil {
		return d.fault
	}
	_, err := d.lines.WriteTo(w)
	return err
}
