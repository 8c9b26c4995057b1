package rpc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/wire"
)

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 500 * time.Millisecond
	// waitNoticeAfter is how long a search takes before Config.OnWait is called: about
	// as long as an election.
	waitNoticeAfter = time.Second
)

// UnavailableError says that a search has found no leader.
type UnavailableError struct {
	Waited time.Duration // length of the search; 0 if each master was asked once
	Errs   []error       // the last error of each master
}

func (e *UnavailableError) Error() string {
	var text strings.Builder
	what := "no leading master found"
	if len(e.Errs) == 1 && errors.As(e.Errs[0], new(*overloadError)) {
		what = "the leading master accepts no more calls"
	}
	text.WriteString(what)
	if e.Waited > 0 {
		fmt.Fprintf(&text, " in %v", e.Waited.Round(100*time.Millisecond))
	}
	for _, f := range e.Errs {
		text.WriteString("; ")
		text.WriteString(f.Error())
	}
	return text.String()
}

// Unwrap returns the last error of each master.
func (e *UnavailableError) Unwrap() []error { return e.Errs }

// This is the search for the leader. Every master knows the leader, and leaders change:
//
//	Do: Try, and again after a pause, until Config.Timeout
//	Try: the last known leader, then the other masters in order
//	       done        ──► remember it as the leader
//	       redirected  ──► ask the one it names next
//	       transient   ──► ask the next master
//	       notMaster   ──► ask the next; if there are only such, waiting cannot help
//	       overloaded  ──► the leader refuses: Do calls it again after a pause
//	       permanent   ──► the answer
//
// A suspended master accepts connections and never answers, so asking it costs seconds;
// NoteStreamError therefore puts it last.

// answerTimeout is how long a master may take to answer before another master is asked. A
// submission waits for the disks of a majority, and AddMaster waits until the new master has
// caught up. Pings detect a lost master sooner.
const answerTimeout = 30 * time.Second

// Call makes a call with one answer to the leader, as Do does:
//
//	done, err := rpc.Call(ctx, c, (*rpc.Master).Change, wire.NewChange("job.kill", id, ""))
func Call[Q, A any](ctx context.Context, c *Masters, call func(*Master, context.Context, Q) (A, error), question Q) (answer A, err error) {
	err = c.Do(ctx, func(ctx context.Context, m *Master) error {
		ctx, cancel := context.WithTimeout(ctx, min(answerTimeout, c.cfg.Timeout))
		defer cancel()
		answer, err = call(m, ctx, question)
		return err
	})
	return answer, err
}

// Read asks the leader for a document at a path below the root of the REST API; docs.Document.From makes it.
func (c *Masters) Read(ctx context.Context, path string) (document []byte, err error) {
	a, err := Call(ctx, c, (*Master).Read, &wire.ReadRequest{Path: path})
	return a.GetDocument(), err
}

// Info returns the description of the cluster by one of its masters, which need not be the
// leader. It also adds the addresses of the masters in the description.
func (c *Masters) Info(ctx context.Context) (*wire.Info, error) {
	return c.info(ctx, new(wire.InfoRequest))
}

// LeaderInfo is Info of the leader.
func (c *Masters) LeaderInfo(ctx context.Context) (*wire.Info, error) {
	return c.info(ctx, &wire.InfoRequest{OfLeader: true})
}

func (c *Masters) info(ctx context.Context, q *wire.InfoRequest) (*wire.Info, error) {
	info, err := Call(ctx, c, (*Master).GetInfo, q)
	for _, m := range info.GetMasters() {
		c.Learn(m.Address)
		if m.Id == info.Leader && checkAddress(m.Address) == nil {
			c.setLeader(m.Address)
		}
	}
	return info, err
}

// Do runs call with the leader. While there is no leader it retries, up to Config.Timeout;
// then it returns an *UnavailableError. It returns other errors of call unchanged if they do
// not come from an RPC.
func (c *Masters) Do(ctx context.Context, call func(context.Context, *Master) error) error {
	began, noticed := time.Now(), false
	for pause := minBackoff; ; pause = min(2*pause, maxBackoff) {
		err := c.Try(ctx, call)
		var none *UnavailableError
		var overload *overloadError
		switch {
		case errors.As(err, &overload):
			none, pause = &UnavailableError{Errs: []error{overload}}, max(pause, min(overload.retry, maxRetry))
		case !errors.As(err, &none):
			return err
		}
		waited := time.Since(began)
		if waited >= c.cfg.Timeout || none.noneIsMaster() {
			none.Waited = waited
			return none
		}
		if waited >= waitNoticeAfter && !noticed {
			noticed = true
			c.cfg.OnWait(fmt.Errorf("%w; waiting up to %v", none, c.cfg.Timeout))
		}
		if err := syncutil.Sleep(ctx, min(jitter(pause), c.cfg.Timeout-waited)); err != nil {
			return err
		}
	}
}

// noneIsMaster reports whether no address that was asked belongs to a master.
func (e *UnavailableError) noneIsMaster() bool {
	return !slices.ContainsFunc(e.Errs, func(err error) bool {
		_, is := err.(*notMasterError)
		return !is
	})
}

// overloadError says that the leader refuses a call because of too much load. Waiting helps.
type overloadError struct {
	error
	retry time.Duration // when to call again
}

func (e *overloadError) Unwrap() error { return e.error }

// maxRetry bounds how long a master can make callers wait.
const maxRetry = 5 * time.Second

// notMasterError marks an error that waiting cannot resolve.
type notMasterError struct{ error }

func (e *notMasterError) Unwrap() error { return e.error }

// Try asks each master once, the last known leader first. If a master names the leader, Try
// asks that leader next. It returns the result of call for the first master that leads, or
// an *UnavailableError.
func (c *Masters) Try(ctx context.Context, call func(context.Context, *Master) error) error {
	var asked []string
	none := new(UnavailableError)
	for queue := c.searchOrder(); len(queue) > 0; {
		address := queue[0]
		queue = queue[1:]
		if slices.Contains(asked, address) {
			continue
		}
		asked = append(asked, address)
		v := c.classify(address, call(ctx, c.master(address)))
		if ctx.Err() != nil && v.kind != done {
			return context.Cause(ctx)
		}
		switch v.kind {
		case done:
			c.setLeader(address)
			return nil
		case permanent:
			return v.err
		case overloaded:
			return &overloadError{v.err, v.retry}
		case notMaster:
			v.err = &notMasterError{v.err}
		case redirected:
			if checkAddress(v.leader) == nil && !c.cfg.Only {
				c.Learn(v.leader)
				queue = append([]string{v.leader}, queue...)
			}
		}
		none.Errs = append(none.Errs, v.err)
	}
	return none
}

// NoteStreamError converts the error of a stream to m into an error for users, and changes
// the search order. If the error names the leader, the leader is asked first. A master that
// did not answer is asked last: a suspended master accepts connections, so each question to
// it costs seconds.
func (c *Masters) NoteStreamError(m *Master, err error) error {
	v := c.classify(m.Address, err)
	switch {
	case v.kind == redirected && checkAddress(v.leader) == nil:
		c.setLeader(v.leader)
	case v.kind == transient:
		c.askLast(m.Address)
	}
	return v.err
}

// jitter returns a random duration between d/2 and d, so that callers retry at different
// times.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2) }
