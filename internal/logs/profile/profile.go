// Package profile takes profiles of the process that calls it, for users who look for where a task
// or a daemon spends its time, memory or goroutines:
//
//	data, err := profile.Take(ctx, profile.Query{Kind: profile.CPU, Seconds: 10})
//
// All but stacks are in the format of github.com/google/pprof, compressed by gzip. A process takes
// one profile at a time.
package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Kinds of profiles.
const (
	CPU       = "cpu"       // where the processors spent their time during some seconds
	Heap      = "heap"      // what allocated the memory, in use and in total
	Goroutine = "goroutine" // where goroutines are
	Stacks    = "stacks"    // the same as text, with states and waiting times
)

// Kinds are all kinds.
var Kinds = []string{CPU, Heap, Goroutine, Stacks}

const (
	// MaxSeconds bounds a profile of kind CPU, and DefaultSeconds is its usual time.
	MaxSeconds, DefaultSeconds = 60, 10
	// MaxBytes bounds a profile. It fits into a message of a task.
	MaxBytes = 8<<20 - 1<<10
)

// Refusal is the error for a profile that cannot be taken now, or not of this process. Its text says
// why.
type Refusal string

// Error implements error.
func (r Refusal) Error() string { return string(r) }

// Query says which profile is wanted.
type Query struct {
	Kind    string
	Seconds int // of kind CPU; others ignore it
}

// Check returns why the query is wrong.
func (q Query) Check() error {
	switch {
	case !slices.Contains(Kinds, q.Kind):
		return fmt.Errorf("kind %.40q: expected one of %s", q.Kind, strings.Join(Kinds, ", "))
	case q.Kind == CPU && (q.Seconds < 1 || q.Seconds > MaxSeconds):
		return fmt.Errorf("seconds %d: expected a number from 1 to %d", q.Seconds, MaxSeconds)
	}
	return nil
}

// Time returns how long it takes to collect the profile.
func (q Query) Time() time.Duration {
	if q.Kind != CPU {
		return 0
	}
	return time.Duration(q.Seconds) * time.Second
}

// Values returns the query as parameters of a request.
func (q Query) Values() url.Values {
	return url.Values{"kind": {q.Kind}, "seconds": {strconv.Itoa(q.Seconds)}}
}

// FromValues returns the query in the parameters of a request.
func FromValues(v url.Values) (Query, error) {
	seconds, err := strconv.Atoi(v.Get("seconds"))
	q := Query{v.Get("kind"), seconds}
	if err != nil {
		return q, fmt.Errorf("seconds %.40q: expected a number", v.Get("seconds"))
	}
	return q, q.Check()
}

// taking is locked while a profile is taken: the runtime has only one of kind CPU at a time.
var taking sync.Mutex

// Take takes a profile of this process. If ctx ends first, it returns the cause.
func Take(ctx context.Context, q Query) ([]byte, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	if !taking.TryLock() {
		return nil, Refusal("another profile of this process is being taken; try again when it has ended")
	}
	defer taking.Unlock()
	if q.Kind == Stacks {
		return stacks(MaxBytes), nil
	}
	var out limited
	var err error
	if q.Kind == CPU {
		err = takeCPU(ctx, &out, q.Time())
	} else {
		err = pprof.Lookup(q.Kind).WriteTo(&out, 0)
	}
	if err = errors.Join(err, out.err); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// takeCPU writes a profile of the next time d.
func takeCPU(ctx context.Context, out *limited, d time.Duration) error {
	if err := pprof.StartCPUProfile(out); err != nil {
		return Refusal("the program takes a CPU profile of itself; try again when it has ended")
	}
	defer pprof.StopCPUProfile() // writes it
	return syncutil.Sleep(ctx, d)
}

// stacks returns the stacks of all goroutines, of at most limit bytes.
func stacks(limit int) []byte {
	for size := min(64<<10, limit); ; size = min(2*size, limit) {
		text := make([]byte, size)
		if n := runtime.Stack(text, true); n < size || size == limit {
			return text[:n]
		}
	}
}

// limited is a buffer of MaxBytes.
type limited struct {
	bytes.Buffer
	err error // of the first write that did not fit
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if l.err == nil && l.Len()+len(p) > MaxBytes {
		l.err = Refusal(fmt.Sprintf("the profile has more than %d bytes", MaxBytes))
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.Buffer.Write(p)
}

// Suffix returns how the name of a file with a profile ends.
func Suffix(kind string) string {
	if kind == Stacks {
		return ".txt"
	}
	return ".pb.gz"
}
