package mr

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"github.com/hammr/hammr/internal/conf"
)

// slots are the tasks that can run at once.
type slots struct{ maps, reduces int }

// allSlots returns the slots of this process, or of the tasknodes of the cluster that accept
// tasks.
func (e *engine) allSlots(ctx context.Context, d *Driver) (slots, error) {
	if !e.cluster.remote() {
		return slots{maps: e.slots(), reduces: e.slots()}, nil
	}
	if _, err := e.remoteClient(d); err != nil {
		return slots{}, err
	}
	var nodes []struct {
		State                 string
		MapSlots, ReduceSlots int
	}
	err := e.read(ctx, "/nodes", &nodes)
	var all slots
	for _, n := range nodes {
		if n.State == "RUNNING" {
			all.maps += n.MapSlots
			all.reduces += n.ReduceSlots
		}
	}
	return all, err
}

// shareOfSlots is the number of reduces for each reduce slot of a cluster. All reduces run in
// one wave, and if a machine fails, the slots that are left take its reduces.
const shareOfSlots = 0.95

// chooseReduces sets mapreduce.job.reduces from the slots, if hammr.job.reduces.auto asks for
// it and neither the user nor the program has set a number. c leaves out what the user has
// set to the default.
func (d *Driver) chooseReduces(ctx context.Context, det details, c *conf.Conf) error {
	if !det.hasReduce || !c.Bool(conf.ReducesAuto) || c.IsSet(conf.JobReduces) || d.conf.IsSet(conf.JobReduces) {
		return nil
	}
	s, err := d.engine.allSlots(ctx, d)
	if err != nil {
		return err
	}
	n := s.reduces
	if d.engine.cluster.remote() {
		n = int(math.Round(shareOfSlots * float64(n)))
	}
	_, err = c.Set(conf.JobReduces, strconv.Itoa(max(n, 1)))
	return err
}

// read reads a document of the cluster into a value with those of its fields that matter here. The client of
// documents is not a part of a program.
func (e *engine) read(ctx context.Context, path string, into any) error {
	text, err := e.remote.Read(ctx, path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
