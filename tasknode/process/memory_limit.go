package process

import (
	"fmt"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/taskproc"
)

// memoryLimit is how much memory a task may use.
type memoryLimit struct {
	bytes    int64
	property string // that sets it
}

// memoryLimitOf are a task's memory and how many tasks its process may run, which is
// negative for any number.
func memoryLimitOf(start *taskproc.Start) (l memoryLimit, tasks int, err error) {
	c, err := conf.FromMap(start.Properties)
	if err != nil {
		return memoryLimit{}, 0, err
	}
	property := conf.MapMemoryMB
	if start.Kind == taskproc.Kind_REDUCE {
		property = conf.ReduceMemoryMB
	}
	return memoryLimit{bytes: c.Int64(property) << 20, property: property}, c.Int(conf.ProcessTasks), nil
}

// gcLimit is where Go's collector begins to work against the limit: what it does
// not know of, such as the program's own pages, needs room too.
func (l memoryLimit) gcLimit() int64 { return l.bytes / 10 * 9 }

// exceededText tells a user that a task has used more.
func (l memoryLimit) exceededText() string {
	return fmt.Sprintf("the task ran out of its memory of %d MiB (%s): raise it, or let the task hold less at a time", l.bytes>>20, l.property)
}
