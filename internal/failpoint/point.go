package failpoint

import (
	"fmt"
	"slices"
	"strings"
)

// Point is a place in the code where a drill can inject a fault.
type Point int

// The points. An error at a point acts as if the following step had failed.
const (
	TaskSpill         Point = iota // before a sorted run is written to disk
	TaskCheckpoint                 // before a checkpoint is written
	TaskSegment                    // before a task's segments are made final
	TaskDone                       // before a task reports that it has finished
	TasknodeLaunch                 // before a task is launched
	TasknodeHeartbeat              // before a heartbeat is sent; an error leaves it out
	MasterAppend                   // before entries are written to the log on disk
	MasterSnapshot                 // before a snapshot of the state is taken
	MasterCommitBegin              // before the first file of a job's output gets its name
	MasterCommitFile               // before each file of it gets its name
	MasterCommitEnd                // after the last one, before the output is marked as complete

	points // their number
)

// names are the points' names in plans and messages.
var names = [points]string{
	TaskSpill:         "task/spill",
	TaskCheckpoint:    "task/checkpoint-write",
	TaskSegment:       "task/segment-commit",
	TaskDone:          "task/done",
	TasknodeLaunch:    "tasknode/launch",
	TasknodeHeartbeat: "tasknode/heartbeat",
	MasterAppend:      "jobmaster/log-append",
	MasterSnapshot:    "jobmaster/snapshot",
	MasterCommitBegin: "jobmaster/commit-begin",
	MasterCommitFile:  "jobmaster/commit-file",
	MasterCommitEnd:   "jobmaster/commit-end",
}

func (p Point) String() string { return names[p] }

// Names are the names of all points.
func Names() []string { return names[:] }

// Find finds a point by its name. The error lists all names.
func Find(name string) (Point, error) {
	if i := slices.Index(names[:], name); i >= 0 {
		return Point(i), nil
	}
	return 0, fmt.Errorf("no failpoint %q; there are %s", name, strings.Join(names[:], ", "))
}
