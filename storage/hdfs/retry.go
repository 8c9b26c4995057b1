package hdfs

import (
	"context"
	"math/rand/v2"
	"time"
)

// call is an operation on a client. Try counts from 0. A later try must expect that an
// earlier one took effect although its answer was lost.
type call func(c *session, try int) error

// do executes an operation on a client of the pool. While no NameNode is available it
// retries for up to RetryTimeout. It returns an explained error.
func (f *FS) do(ctx context.Context, p *pool, op, path string, run call) error {
	began := time.Now()
	for try := 0; ; try++ {
		err := f.tryOnce(ctx, p, try, run)
		if err == nil {
			f.reached.Store(true)
			return nil
		}
		if judge(err) == final || time.Since(began) > f.patience() {
			return f.explain(op, path, err)
		}
		if try == 0 {
			f.log.Warn("HDFS does not answer, trying again", "operation", op, "path", f.URI()+path, "cause", err)
		}
		if wait := pause(ctx, try); wait != nil {
			return f.explain(op, path, wait)
		}
	}
}

func (f *FS) tryOnce(ctx context.Context, p *pool, try int, run call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := p.acquire()
	if err != nil {
		return err
	}
	defer s.release()
	err = run(s, try)
	if err != nil && judge(err) == reconnect {
		s.retire()
	}
	return err
}

// patience returns how long a call is retried. It is shorter until the cluster has answered
// once, because the address is probably wrong then.
func (f *FS) patience() time.Duration {
	if f.reached.Load() {
		return f.cfg.RetryTimeout
	}
	return min(f.cfg.ConnectTimeout, f.cfg.RetryTimeout)
}

// pause waits before the next try, starting at 50 ms.
func pause(ctx context.Context, try int) error {
	return pauseFrom(ctx, 50*time.Millisecond, try)
}

// pauseFrom waits twice as long for each try, from shortest to 2 s. Part of the wait is
// random, so that the clients of a NameNode do not retry in step.
func pauseFrom(ctx context.Context, shortest time.Duration, try int) error {
	wait := min(shortest<<min(try, 10), 2*time.Second)
	wait = wait/2 + rand.N(wait/2)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
