package rpc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/wait"
)

const (
	minBackoff = 50 * time.Millisecond
	maxBackoff = 500 * time.Millisecond
	// waitNoticeAfter is how long a search goes on before the caller is told: an
	// election takes about as long.
	waitNoticeAfter = time.Second
)

// UnavailableError says that no master was found that leads.
type UnavailableError struct {
	Waited time.Duration // how long was looked, 0 for once
	Errs   []error       // what each master answered the last time
}

func (e *UnavailableError) Error() string {
	var text strings.Builder
	text.WriteString("no master that leads")
	if e.Waited > 0 {
		fmt.Fprintf(&text, " in %v", e.Waited.Round(100*time.Millisecond))
	}
	for _, f := range e.Errs {
		text.WriteString("; ")
		text.WriteString(f.Error())
	}
	return text.String()
}

// Unwrap is what each master answered.
func (e *UnavailableError) Unwrap() []error { return e.Errs }

// Do calls call with the master that leads. While there is none it tries again,
// up to Config.Timeout; then the error is an *UnavailableError. Errors of call
// that are not those of its calls are returned as they are.
func (c *Masters) Do(ctx context.Context, call func(context.Context, *Master) error) error {
	began, told := time.Now(), false
	for pause := minBackoff; ; pause = min(2*pause, maxBackoff) {
		err := c.Try(ctx, call)
		var none *UnavailableError
		if !errors.As(err, &none) {
			return err
		}
		waited := time.Since(began)
		if waited >= c.cfg.Timeout || none.noneIsMaster() {
			none.Waited = waited
			return none
		}
		if waited >= waitNoticeAfter && !told {
			told = true
			c.cfg.OnWait(fmt.Errorf("%w; waiting up to %v", none, c.cfg.Timeout))
		}
		if err := wait.For(ctx, min(jitter(pause), c.cfg.Timeout-waited)); err != nil {
			return err
		}
	}
}

// noneIsMaster reports whether nobody of those asked will ever be a master.
func (e *UnavailableError) noneIsMaster() bool {
	return !slices.ContainsFunc(e.Errs, func(err error) bool {
		_, is := err.(*notMasterError)
		return !is
	})
}

// notMasterError marks what waiting does not mend.
type notMasterError struct{ error }

func (e *notMasterError) Unwrap() error { return e.error }

// Try asks each master once, first the one that led the last time, and follows
// what they say of the leader. It returns what call returns for the first master
// that leads, or an *UnavailableError.
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
		case notMaster:
			v.err = &notMasterError{v.err}
		case redirected:
			if checkAddress(v.leader) == nil {
				c.Learn(v.leader)
				queue = append([]string{v.leader}, queue...)
			}
		}
		none.Errs = append(none.Errs, v.err)
	}
	return none
}

// NoteStreamError is an error of a stream to m as people understand it. Who leads now is
// remembered if the error tells. Whoever does not answer is asked last from now on:
// one that stands still takes connections, and seconds until it is given up.
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

// jitter is between half of d and all of it, so that callers do not come all at
// once.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2) }
