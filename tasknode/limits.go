package tasknode

import (
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// Limits are what the properties of an attempt allow it.
type Limits struct {
	MemoryMB     int64         // of its process, MiB
	Timeout      time.Duration // mapreduce.task.timeout: without progress; 0 for no limit
	DiskBytes    int64         // of its job in all local directories together; 0 for no limit
	ProcessTasks int           // tasks that its process may run; negative for any number
}

// LimitsOf reads the limits from the properties of an attempt. They are zero if the properties
// have errors: such an attempt does not run.
func LimitsOf(start *taskproc.Start) (Limits, error) {
	c, err := conf.FromMap(start.Properties)
	if err != nil {
		return Limits{}, err
	}
	return Limits{
		MemoryMB: c.Int64(MemoryProperty(start.Kind)), Timeout: c.Duration("mapreduce.task.timeout"),
		DiskBytes: c.Bytes(conf.LocalDiskLimit), ProcessTasks: c.Int(conf.ProcessTasks),
	}, nil
}

// MemoryProperty returns the property that sets the memory of tasks of a kind.
func MemoryProperty(kind taskproc.Kind) string {
	if kind == taskproc.Kind_REDUCE {
		return conf.ReduceMemoryMB
	}
	return conf.MapMemoryMB
}
