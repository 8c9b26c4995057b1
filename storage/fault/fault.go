// Package fault wraps a storage.FS and fails on command. A list of rules says
// which calls fail and how; nothing is random, so that a test that counts the
// calls of one run can strike each of them in turn in the next ones:
//
//	probe := fault.New(mem.New(mem.Options{}), fault.Options{})
//	work(probe)
//	for n := 1; n <= probe.Calls(); n++ {
//		inner := mem.New(mem.Options{})
//		work(fault.New(inner, fault.Options{}, fault.Rule{Nth: n, Crash: true}))
//		work(inner) // has to come to the same end
//	}
package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"
	"time"

	"github.com/hammr/hammr/storage"
)

// Op is a kind of call.
type Op string

// The calls that rules can strike. Read stands for Read and ReadAt, Close and
// Abort for those of a Writer. Seek and the Close of a File never fail.
const (
	Any    Op = ""
	Open   Op = "open"
	Create Op = "create"
	Stat   Op = "stat"
	List   Op = "list"
	Mkdir  Op = "mkdir"
	Rename Op = "rename" // the path is the source
	Remove Op = "remove"
	Blocks Op = "blocks"
	Concat Op = "concat" // the path is the target
	Read   Op = "read"
	Write  Op = "write"
	Close  Op = "close"
	Abort  Op = "abort"
)

// ErrInjected is an error for rules that need no other.
var ErrInjected = errors.New("fault: injected error")

// ErrCrashed is what every call returns after a crash.
var ErrCrashed = errors.New("fault: file system has crashed")

// Rule says which calls to strike and what to do to them. The first two fields
// and Offset choose the calls, Nth and Times choose among these, the rest is
// what happens; several rules may strike one call.
type Rule struct {
	Op   Op     // the kind of call; Any is each
	Path string // a pattern of path.Match for the whole path, or "" for any

	// Offset is the byte of the file, counted from 0, that a Read or Write has
	// to touch to be struck. With Err or Crash the bytes before it get through.
	Offset int64

	Nth   int // strike from this one of the chosen calls on, counted from 1; 0 is 1
	Times int // strike this many of them; 0 is all that follow

	Err     error         // returned instead of carrying out the call
	After   bool          // with Err or Crash: carry out the call first, then lose its reply
	Corrupt bool          // invert the bits of the byte at Offset of a Read or Write
	Latency time.Duration // pass to Options.Sleep before the call
	Crash   bool          // return ErrCrashed, from this and from every later call
}

// Options are the properties of an FS.
type Options struct {
	// Sleep waits for a rule's Latency; an error ends the call. Default: no
	// waiting.
	Sleep func(ctx context.Context, d time.Duration) error

	// Ask is asked at every call what happens to it beside what rules say: by how
	// much it is late, and with what it fails instead of being carried out, nil if it
	// does not. Any goroutine may call it. Default: nothing happens.
	Ask func(op Op, path string) (late time.Duration, fault error)
}

// FS is a file system that fails by its rules.
type FS struct {
	inner storage.FS
	opts  Options
	mu    struct {
		sync.Mutex
		rules   []rule
		calls   int
		crashed bool
	}
}

// rule is a Rule with the number of calls it has chosen so far.
type rule struct {
	Rule
	chosen int
}

var _ storage.FS = (*FS)(nil)

// New wraps inner.
func New(inner storage.FS, opts Options, rules ...Rule) *FS {
	if opts.Sleep == nil {
		opts.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	f := &FS{inner: inner, opts: opts}
	f.Add(rules...)
	return f
}

// Add puts more rules in force. A pattern that path.Match cannot read is a
// mistake in the test and panics.
func (f *FS) Add(rules ...Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range rules {
		if _, err := path.Match(r.Path, ""); err != nil {
			panic(fmt.Sprintf("fault: pattern %q: %v", r.Path, err))
		}
		f.mu.rules = append(f.mu.rules, rule{Rule: r})
	}
}

// Calls is how many calls there have been, struck or not.
func (f *FS) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.calls
}

// Crashed reports whether a rule with Crash has struck.
func (f *FS) Crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.crashed
}

// Unwrap returns the file system beneath, as one finds it after a crash.
func (f *FS) Unwrap() storage.FS { return f.inner }

// Close closes the file system beneath where that can be closed.
func (f *FS) Close() error {
	if c, ok := f.inner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// call is one call and, for reads and writes, the bytes of the file it is
// about to touch.
type call struct {
	op   Op
	path string
	at   int64
	size int
}

// verdict is what the rules have in store for a call.
type verdict struct {
	err     error // nil lets it through
	after   bool  // carry it out all the same
	passes  int   // bytes of a read or write that get through before err
	corrupt []int // indexes of the bytes to invert
	latency time.Duration
}

// judge counts the call and gathers what the rules say about it. The first
// rule with an error decides how the call ends.
func (f *FS) judge(ctx context.Context, c call) (verdict, error) {
	v := f.decide(c)
	f.ask(c, &v)
	if v.latency > 0 {
		if err := f.opts.Sleep(ctx, v.latency); err != nil {
			return v, fmt.Errorf("%s %s: %w", c.op, c.path, err)
		}
	}
	if v.err != nil {
		v.err = fmt.Errorf("%s %s: %w", c.op, c.path, v.err)
	}
	return v, nil
}

func (f *FS) decide(c call) verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.calls++
	if f.mu.crashed {
		return verdict{err: ErrCrashed}
	}
	v := verdict{passes: c.size}
	for i := range f.mu.rules {
		r := &f.mu.rules[i]
		if !r.matches(c) {
			continue
		}
		v.latency += r.Latency
		if r.Corrupt && c.size > 0 {
			v.corrupt = append(v.corrupt, int(r.Offset-c.at))
		}
		err := r.Err
		if r.Crash {
			f.mu.crashed = true
			err = ErrCrashed
		}
		if err != nil && v.err == nil {
			v.err, v.after, v.passes = err, r.After, int(max(0, r.Offset-c.at))
		}
	}
	return v
}

// ask adds what Options.Ask has in store. The rules decide first.
func (f *FS) ask(c call, v *verdict) {
	if f.opts.Ask == nil {
		return
	}
	late, err := f.opts.Ask(c.op, c.path)
	v.latency += late
	if v.err == nil && err != nil {
		v.err, v.after, v.passes = err, false, 0
	}
}

// matches counts the call when the rule chooses it.
func (r *rule) matches(c call) bool {
	if r.Op != Any && r.Op != c.op {
		return false
	}
	if r.Path != "" {
		if ok, _ := path.Match(r.Path, c.path); !ok {
			return false
		}
	}
	if (c.op == Read || c.op == Write) && !r.touches(c) {
		return false
	}
	r.chosen++
	first := max(r.Nth, 1)
	return r.chosen >= first && (r.Times == 0 || r.chosen < first+r.Times)
}

// touches reports whether a read or write reaches Offset. Corruption happens
// at one byte, an error holds from there on.
func (r *rule) touches(c call) bool {
	if r.Corrupt {
		return c.at <= r.Offset && r.Offset < c.at+int64(c.size)
	}
	return r.Offset < c.at+int64(c.size) || r.Offset <= c.at
}
