// Package fault wraps a storage.FS and injects faults. Rules select the calls that fail and
// how. Nothing is random, so a test can count the calls of one run and then make each of
// them fail in turn:
//
//	probe := fault.New(mem.New(mem.Options{}), fault.Options{})
//	work(probe)
//	for n := 1; n <= probe.Calls(); n++ {
//		inner := mem.New(mem.Options{})
//		work(fault.New(inner, fault.Options{}, fault.Rule{Nth: n, Crash: true}))
//		work(inner) // must reach the same result
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

// The kinds of calls that rules select. Read includes ReadAt. Close and Abort are calls of a
// Writer. Seek and File.Close never fail.
const (
	Any    Op = ""
	Open   Op = "open"
	Create Op = "create"
	Stat   Op = "stat"
	List   Op = "list"
	Mkdir  Op = "mkdir"
	Rename Op = "rename" // a rule's path is compared with the source
	Remove Op = "remove"
	Blocks Op = "blocks"
	Concat Op = "concat" // a rule's path is compared with the target
	Read   Op = "read"
	Write  Op = "write"
	Close  Op = "close"
	Abort  Op = "abort"
)

// ErrInjected is an error for rules in tests that need no particular error.
var ErrInjected = errors.New("fault: injected error")

// ErrCrashed is returned by every call after a crash.
var ErrCrashed = errors.New("fault: file system has crashed")

// Rule selects calls and says how they fail. Op, Path and Offset select the calls, Nth and
// Times select among these. The other fields are the effect. Several rules may apply to one
// call.
type Rule struct {
	Op   Op     // the kind of call; Any matches each
	Path string // a pattern of path.Match for the whole path; "" matches any

	// Offset is the byte of the file, counted from 0, that a Read or Write must touch to be
	// selected. With Err or Crash the bytes before it are transferred.
	Offset int64

	Nth   int // first selected call that fails, counted from 1; 0 means 1
	Times int // number of calls that fail; 0 means all from Nth on

	Err     error         // returned instead of executing the call
	After   bool          // with Err or Crash: execute the call first, then lose its reply
	Corrupt bool          // invert the bits of the byte at Offset of a Read or Write
	Latency time.Duration // passed to Options.Sleep before the call
	Crash   bool          // return ErrCrashed, from this call and from every later one
}

// Options configure an FS.
type Options struct {
	// Sleep waits for the Latency of a rule. Its error ends the call. Default: no wait.
	Sleep func(ctx context.Context, d time.Duration) error

	// Ask is called for each call and returns a fault in addition to the rules' faults: a
	// delay, and an error that is returned instead of executing the call, or nil. It must be
	// safe for concurrent use. Default: no fault.
	Ask func(op Op, path string) (late time.Duration, fault error)
}

// FS is a file system that applies rules to its calls.
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

// rule is a Rule with the number of calls that it has selected so far.
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

// Add adds rules. It panics if a pattern is malformed, because that is a mistake in the
// test.
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

// Calls returns the number of calls so far, failed or not.
func (f *FS) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.calls
}

// Crashed reports whether a rule with Crash has applied.
func (f *FS) Crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.crashed
}

// Unwrap returns the wrapped file system. After a crash it shows the state at the crash.
func (f *FS) Unwrap() storage.FS { return f.inner }

// Close closes the wrapped file system if it has a Close method.
func (f *FS) Close() error {
	if c, ok := f.inner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// call describes a call and, for reads and writes, the bytes of the file that it touches.
type call struct {
	op   Op
	path string
	at   int64
	size int
}

// verdict is the effect of the rules on a call.
type verdict struct {
	err     error // nil: the call succeeds
	after   bool  // execute the call although it fails
	passes  int   // number of bytes of a read or write that are transferred before err
	corrupt []int // indexes of the bytes to invert
	latency time.Duration
}

// judge counts the call and combines the effects of the rules. The first rule with an error
// decides how the call ends.
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

// decide counts the call and applies the rules in order. Delays add up; the first rule with an
// error decides how the call ends. After a crash each call fails.
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

// ask adds the fault of Options.Ask, unless a rule has already decided the call's end.
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

// matches reports whether the rule applies to the call. It counts the call if the rule
// selects it.
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

// touches reports whether a read or write reaches Offset. Corruption affects one byte; an
// error affects all bytes from Offset on.
func (r *rule) touches(c call) bool {
	if r.Corrupt {
		return c.at <= r.Offset && r.Offset < c.at+int64(c.size)
	}
	return r.Offset < c.at+int64(c.size) || r.Offset <= c.at
}
