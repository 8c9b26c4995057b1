package hdfs

import (
	"context"
	"math/rand/v2"
	"time"
)

// call is one operation on a client. try is 0 the first time; a later try must
// reckon with an earlier one having been carried out although its answer is lost.
type call func(c *session, try int) error

// do carries out an operation on a client of the pool and repeats it while the
// NameNode is not to be had, for RetryTimeout. The error is explained.
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

// patience is how long a call is repeated: shorter as long as the cluster has
// never answered, for then the address is probably wrong.
func (f *FS) patience() time.Duration {
	if f.reached.Load() {
		return f.cfg.RetryTimeout
	}
	return min(f.cfg.ConnectTimeout, f.cfg.RetryTimeout)
}

// pause waits before the next try, from 50 ms on.
func pause(ctx context.Context, try int) error {
	return pauseFrom(ctx, 50*time.Millisecond, try)
}

// pauseFrom waits twice as long for each try, from shortest up to 2 s, of which a
// random part, so that many clients of one NameNode do not come at once.
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
