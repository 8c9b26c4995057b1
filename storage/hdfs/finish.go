package hdfs

import (
	"context"
	"fmt"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

// finish completes the file and moves it to its final name.
func (u *upload) finish() error {
	for {
		err := u.complete()
		if err == nil {
			break
		}
		if err := u.recover(err); err != nil {
			return err
		}
	}
	u.session.release()
	u.writer, u.session = nil, nil
	if u.path == u.target {
		return nil
	}
	u.remove(u.target) // the broken file that reserved the name
	if err := u.fs.Rename(u.ctx, u.path, u.target); err != nil {
		return err
	}
	u.path = u.target
	return nil
}

// complete closes the module's writer. The NameNode answers "replicating" until a DataNode
// has reported the last block, which usually takes a moment. Then complete checks that the
// file has the length that was written.
func (u *upload) complete() error {
	began := time.Now()
	err := u.writer.Close()
	for try := 0; hdfs.IsErrReplicating(err) && time.Since(began) < u.fs.cfg.CloseTimeout; try++ {
		if err := pauseFrom(u.ctx, time.Millisecond, try); err != nil {
			return err
		}
		err = u.writer.Close()
	}
	if err != nil {
		return err
	}
	status, err := u.fs.status(u.ctx, "close", u.path)
	if err != nil {
		return err
	}
	if want := u.committed + u.spool.size(); int64(status.GetLength()) != want {
		return fmt.Errorf("%d bytes written, the NameNode has %d", want, status.GetLength())
	}
	return nil
}

// abandon removes the file, even if its context is done.
func (u *upload) abandon() error {
	u.ctx = context.WithoutCancel(u.ctx)
	u.closeSession()
	if u.path != u.target {
		u.remove(u.path)
	}
	return u.fs.Remove(u.ctx, u.target, false)
}
