package failpoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// actionKind is what happens at a point.
type actionKind int64

// Deeds.
const (
	noAction actionKind = iota
	fail
	sleep
	crash
)

// Action is what a point is set to.
type Action struct {
	kind  actionKind
	delay time.Duration // of sleep
	nth   int64         // the hit, from 1, at which it happens, once; 0 is at each
}

// Nth is the hit, from 1, at which it happens, once; 0 is at each.
func (a Action) Nth() int64 { return a.nth }

// Fails reports whether it is an error.
func (a Action) Fails() bool { return a.kind == fail }

// Crashes reports whether it ends the process.
func (a Action) Crashes() bool { return a.kind == crash }

// Delay is how long it takes, 0 for a deed that takes no time.
func (a Action) Delay() time.Duration { return a.delay }

// maxDelay is the longest time that anything may be delayed by.
const maxDelay = time.Hour

// ParseAction reads "error", "crash" or "delay=TIME", with "@N" behind it for the
// N-th hit from now on alone; "" is nothing.
func ParseAction(text string) (a Action, err error) {
	word, nth, once := strings.Cut(text, "@")
	if once {
		if a.nth, err = strconv.ParseInt(nth, 10, 64); err != nil || a.nth < 1 {
			return a, fmt.Errorf("action %q: expected the number of a hit, from 1, behind the @", text)
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
			return a, fmt.Errorf("action %q: expected a time up to %v behind delay=, such as 200ms", text, maxDelay)
		}
	default:
		return a, fmt.Errorf("action %q: expected error, crash or delay=TIME, with or without @N, or nothing", text)
	}
	return a, nil
}
