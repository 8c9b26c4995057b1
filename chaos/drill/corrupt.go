package drill

import (
	"errors"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
)

func init() {
	injectors[chaos.Corrupt] = injector{
		inject:  func(d *drill, _ chaos.Fault) action { return immediate(d.corruptSegment) },
		onHosts: unreachableFiles,
	}
}

const unreachableFiles = "the files of its tasks are out of reach"

func (d *drill) corruptSegment(name string) error {
	_, err := d.rig.Corrupt(name, d.random.IntN(1<<20))
	if errors.Is(err, rig.ErrNoSegment) {
		return errNoTarget
	}
	return err
}
