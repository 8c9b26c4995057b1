package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/hammr/hammr/storage"
)

// call is an operation on a client. Try counts from 0. A later try must expect that an
// earlier one took effect although its answer was lost.
type call func(c *session, try int) error

// do executes an operation on a client of the pool. While no NameNode is available it
// retries for up to RetryTimeout. It returns an explained error.
//
// An operation is tried again although an earlier try may have taken effect. So each operation
// that changes something recognizes its own earlier success: see Rename, upload.create and
// concatBatch.
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

// tryOnce executes an operation on one client, and retires the client if the connection may be
// broken.
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

// patience returns the duration for which a call is retried. A client at a terminal sets a
// ConnectTimeout, because the address is probably wrong if the cluster has never answered.
func (f *FS) patience() time.Duration {
	if f.reached.Load() {
		return f.cfg.RetryTimeout
	}
	return min(f.cfg.ConnectTimeout, f.cfg.RetryTimeout)
}

// pause waits before the next try of a call, starting at 50 ms.
func pause(ctx context.Context, try int) error {
	return pauseFrom(ctx, 50*time.Millisecond, try)
}

// pauseFrom waits twice as long for each try, from shortest to 2 s, or until the context ends.
// Part of the wait is random, so that the clients of a NameNode do not retry in step.
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

// verdict determines how to handle an error. See judge for the rules.
type verdict int

const (
	final     verdict = iota // return it
	again                    // retry: the NameNode is not ready
	reconnect                // retry with another client
)

// Exceptions of the NameNode that mean "not now".
const (
	retriableException = "org.apache.hadoop.ipc.RetriableException"
	standbyException   = "org.apache.hadoop.ipc.StandbyException"
	safeModeException  = "org.apache.hadoop.hdfs.server.namenode.SafeModeException"
	notYetReplicated   = "org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException"
	recoveryInProgress = "org.apache.hadoop.hdfs.protocol.RecoveryInProgressException"
	beingCreated       = "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException"
)

// judge returns how to handle an error:
//
//	the NameNode starts up, is in safe mode, or lacks a replica    again
//	the NameNode is standby                                        reconnect, to the other one
//	any other exception of the NameNode                            final
//	an answer about the path, or the caller's context              final
//	a wrong port, or credentials that are refused                  final
//	a local disk that is full or broken                            final
//	anything else: a broken or silent connection                   reconnect
//
// A timeout of a connection wraps os.ErrDeadlineExceeded. judge must not mistake it for the
// end of the caller's context.
func judge(err error) verdict {
	switch class, _ := exception(err); class {
	case "":
	case retriableException, safeModeException, notYetReplicated:
		return again
	case standbyException:
		return reconnect
	default:
		return final
	}
	for _, answer := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrPermission, fs.ErrInvalid, syscall.ENOTEMPTY,
		syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, context.Canceled, context.DeadlineExceeded, errNotRPC, errClosed, errRefused} {
		if errors.Is(err, answer) && !isTimeout(err) {
			return final
		}
	}
	if text := err.Error(); strings.Contains(text, "SASL") || strings.Contains(text, "kerberos") ||
		strings.Contains(text, errNotRPC.Error()) {
		return final
	}
	return reconnect
}

// exception returns the class and the message of an exception of the NameNode; "" for other
// errors.
func exception(err error) (class, message string) {
	var remote hdfs.Error
	if errors.As(err, &remote) {
		return remote.Exception(), remote.Message()
	}
	return "", ""
}

// unavailable reports whether err means "not now", by the rules of package storage. These
// are the errors that judge retries. There are three more, which the NameNode reports for
// blocks and leases: no DataNode takes a block, or another writer has the lease.
func unavailable(err error) bool {
	class, _ := exception(err)
	switch {
	case errors.Is(err, storage.ErrCorrupt):
		return false
	case judge(err) != final, class == recoveryInProgress, class == beingCreated:
		return true
	}
	return tooFewDataNodes(err)
}

// mark marks an explained error if its cause means "not now".
func mark(explained, cause error) error {
	if unavailable(cause) {
		return storage.MarkUnavailable(explained)
	}
	return explained
}

// isTimeout reports whether err is a missed deadline of a connection. net.OpError wraps such
// an error, but not the error of a context.
func isTimeout(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

// explain returns the error that the user sees: the operation, the path, the cause, and a
// remedy. It wraps err, so callers can still test for fs.ErrNotExist and the like.
func (f *FS) explain(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return mark(f.describeError(op, path, err), err)
}

// describeError does what explain does, without the mark of an outage.
func (f *FS) describeError(op, path string, err error) error {
	// The module's PathError repeats the operation and the path.
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	name := f.URI() + path
	var remote hdfs.Error
	switch {
	case errors.As(err, &remote):
		return fmt.Errorf("hdfs: %s %s: %s: %w", op, name, f.remedy(remote), err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("hdfs: %s %s: user %q lacks the permission (set HADOOP_USER_NAME, or have it granted): %w", op, name, f.user, err)
	case judge(err) == reconnect:
		return fmt.Errorf("hdfs: %s %s: no answer from the NameNode at %s (is HDFS running, and is the port right?): %w",
			op, name, strings.Join(f.cfg.Addresses, ","), err)
	}
	return fmt.Errorf("hdfs: %s %s: %w", op, name, err)
}

// remedy describes an exception of the NameNode and its remedy. For other exceptions it
// returns the first line of the message; the later lines are a stack trace.
func (f *FS) remedy(remote hdfs.Error) string {
	message, _, _ := strings.Cut(remote.Message(), "\n")
	exception := remote.Exception()[strings.LastIndexByte(remote.Exception(), '.')+1:]
	switch {
	case strings.Contains(exception, "SafeMode") || strings.Contains(message, "safe mode"):
		return "the NameNode is in safe mode and changes nothing (wait until enough DataNodes have reported, or run hdfs dfsadmin -safemode leave)"
	case strings.HasSuffix(exception, "QuotaExceededException"):
		return "the directory's quota is used up (remove files, or raise it with hdfs dfsadmin -setQuota or -setSpaceQuota): " + message
	case exception == "StandbyException":
		return "no NameNode of the pair is active (run hdfs haadmin -transitionToActive)"
	case message == "":
		return exception
	}
	return message
}
