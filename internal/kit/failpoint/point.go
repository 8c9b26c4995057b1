package failpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
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

	points // number of points
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

// Names returns the names of all points.
func Names() []string { return names[:] }

// Find finds a point by its name. The error lists all names.
func Find(name string) (Point, error) {
	if i := slices.Index(names[:], name); i >= 0 {
		return Point(i), nil
	}
	return 0, fmt.Errorf("no failpoint %q; there are %s", name, strings.Join(names[:], ", "))
}

// actionKind is the effect of an action.
type actionKind int64

// Kinds of actions. Their numbers are in the shared page.
const (
	noAction actionKind = iota
	fail
	sleep
	crash
)

// Action is the setting of a point.
type Action struct {
	kind  actionKind
	delay time.Duration // duration of the sleep
	nth   int64         // the only hit, from 1, at which the action runs; 0 is each hit
}

// Nth returns the only hit, from 1, at which the action happens; 0 is each hit.
func (a Action) Nth() int64 { return a.nth }

// Fails reports whether the action is an error.
func (a Action) Fails() bool { return a.kind == fail }

// Crashes reports whether the action ends the process.
func (a Action) Crashes() bool { return a.kind == crash }

// Delay returns the duration of a delay, 0 for other actions.
func (a Action) Delay() time.Duration { return a.delay }

// maxDelay bounds all delays.
const maxDelay = time.Hour

// ParseAction parses "error", "crash" or "delay=TIME". "@N" after it selects only the N-th
// hit from now on; "" is no action.
func ParseAction(text string) (a Action, err error) {
	word, nth, once := strings.Cut(text, "@")
	if once {
		if a.nth, err = strconv.ParseInt(nth, 10, 64); err != nil || a.nth < 1 {
			return a, fmt.Errorf("action %q: expected the number of a hit, from 1, after the @", text)
		}
	}
	word, delay, timed := strings.Cut(word, "=")
	switch {
	case word == "" && !timed && !once:
	case word == "error" && !timed:
		a.kind = fail
	case word == "crash" && !timed:
		a.kind = crash
	case word == "delay" && timed:
		a.kind = sleep
		if a.delay, err = time.ParseDuration(delay); err != nil || a.delay <= 0 || a.delay > maxDelay {
			return a, fmt.Errorf("action %q: expected a time up to %v after delay=, such as 200ms", text, maxDelay)
		}
	default:
		return a, fmt.Errorf("action %q: expected error, crash or delay=TIME, with or without @N, or nothing", text)
	}
	return a, nil
}
