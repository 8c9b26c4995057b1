package workload

import (
	"errors"
	"fmt"
)

// Options say how an input becomes a Workload. The zero value is the defaults.
type Options struct {
	Format   Format // of the input; "" is found by its content
	Model    Model  // how long tasks take, for inputs that tell of bytes only
	SWIM     SWIM   // for SWIM traces
	MaxTasks int    // in all jobs; 0 is MaxTasks
}

// prepare fills in what is 0 and names every fault.
func (o *Options) prepare() error {
	o.Model.EnsureDefaults()
	o.SWIM.EnsureDefaults()
	if o.MaxTasks == 0 {
		o.MaxTasks = MaxTasks
	}
	err := errors.Join(o.Model.Validate(), o.SWIM.Validate())
	if o.MaxTasks < 0 || o.MaxTasks > MaxTasks {
		err = errors.Join(err, fmt.Errorf("at most %d tasks, expected 1 to %d", o.MaxTasks, MaxTasks))
	}
	return err
}
