package hdfs

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/hammr/hammr/storage/hdfs/pipeline"
)

// fileWriter writes the blocks of a file that a client has created. It calls the NameNode over
// the client's connection.
//
//	addBlock ──► Write … ──► addBlock ──► Write … ──► complete
//	                │ *pipeline.Error
//	                └──► abandonBlock ──► addBlock, at other DataNodes
//
// A pipeline is opened by the first byte of a block. It is ended by addBlock and complete,
// which make the NameNode commit the block. Any error but that of a pipeline leaves the
// fileWriter useless; the caller then calls abort.
type fileWriter struct {
	fs      *FS
	ctx     context.Context
	session *session
	path    string
	id      *uint64 // number of the file; nil for a NameNode without them

	last    *pipeline.ExtendedBlock // last complete block; nil for none
	current *pipeline.LocatedBlock  // nil before the first block, and when it is abandoned
	block   *pipeline.Block         // pipeline of current; nil until its first byte
	full    int64                   // size of a block
}

// newFileWriter returns a writer of a new file.
func (u *upload) newFileWriter(c *session, id *uint64) *fileWriter {
	return &fileWriter{fs: u.fs, ctx: u.ctx, session: c.addUser(), path: u.path, id: id, full: u.blockSize}
}

// Write implements io.Writer. It begins the next block where one is full.
func (w *fileWriter) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		if w.current == nil || w.block != nil && w.block.Length() == w.full {
			if err := w.addBlock(); err != nil {
				return written, err
			}
		}
		if w.block == nil {
			if err := w.open(); err != nil {
				return written, err
			}
		}
		n := min(int64(len(p)), w.full-w.block.Length())
		if err := w.block.Write(p[:n]); err != nil {
			return written, w.fail(err)
		}
		written += int(n)
		p = p[n:]
	}
	return written, nil
}

// open sets up the pipeline of the current block.
func (w *fileWriter) open() error {
	cfg := &w.fs.cfg
	block, err := pipeline.Open(w.ctx, pipeline.Config{
		ClientName:   w.session.Name(),
		Dial:         cfg.dialPipeline(),
		UseHostname:  cfg.UseDatanodeHostname,
		ProbeTimeout: cfg.ProbeTimeout,
		Timeout:      cfg.WriteTimeout,
		Secure: func(dial pipeline.DialFunc, token []byte) (pipeline.DialFunc, error) {
			secured, err := secure(w.session.Client, dialFunc(dial), token)
			return pipeline.DialFunc(secured), err
		},
	}, w.current)
	if err != nil {
		return w.fail(err)
	}
	w.block = block
	return nil
}

// fail ends the pipeline and records the DataNodes that have failed.
func (w *fileWriter) fail(err error) error {
	if w.block != nil {
		w.block.Abort()
		w.block = nil
	}
	if failed, ok := errors.AsType[*pipeline.Error](err); ok {
		w.fs.suspects.add(failed.Nodes, time.Now())
	}
	return err
}

// closeBlock ends the pipeline of the current block, if it has one, and waits until its
// DataNodes have all bytes.
func (w *fileWriter) closeBlock() error {
	if w.block == nil {
		return nil
	}
	block := w.block
	w.block = nil
	if err := block.Close(); err != nil {
		return w.fail(err)
	}
	w.last = w.current.GetBlock()
	w.last.NumBytes = proto.Uint64(uint64(block.Length()))
	return nil
}

// addBlock ends the current block and requests the next one. It excludes DataNodes that have
// failed, unless the NameNode has too few others.
func (w *fileWriter) addBlock() error {
	if err := w.closeBlock(); err != nil {
		return err
	}
	request := &pipeline.AddBlockRequest{
		Src: &w.path, ClientName: proto.String(w.session.Name()), Previous: w.last, FileId: w.id,
		ExcludeNodes: w.fs.suspects.list(time.Now()),
	}
	response := &pipeline.AddBlockResponse{}
	err := w.call("addBlock", request, response)
	if err != nil && len(request.ExcludeNodes) > 0 && tooFewDataNodes(err) {
		w.fs.suspects.clear()
		request.ExcludeNodes = nil
		err = w.call("addBlock", request, response)
	}
	if err == nil {
		w.current = response.GetBlock()
	}
	return err
}

// abandonBlock drops the current block, whose pipeline has failed. The next Write requests
// another one.
func (w *fileWriter) abandonBlock() error {
	if w.current == nil {
		return nil
	}
	request := &pipeline.AbandonBlockRequest{
		Block: w.current.GetBlock(), Src: &w.path, Holder: proto.String(w.session.Name()), FileId: w.id,
	}
	if err := w.call("abandonBlock", request, new(emptypb.Empty)); err != nil {
		return err
	}
	w.current = nil
	return nil
}

// complete ends the last block and completes the file. The NameNode answers false until a
// DataNode has reported that block.
func (w *fileWriter) complete() (bool, error) {
	if err := w.closeBlock(); err != nil {
		return false, err
	}
	request := &pipeline.CompleteRequest{Src: &w.path, ClientName: proto.String(w.session.Name()), Last: w.last, FileId: w.id}
	response := &pipeline.CompleteResponse{}
	err := w.call("complete", request, response)
	return response.GetResult(), err
}

// call calls the NameNode, again while it is not ready: it may lack a report of the block
// before.
func (w *fileWriter) call(method string, request, response proto.Message) error {
	began := time.Now()
	for try := 0; ; try++ {
		err := execute(w.session.Client, method, request, response)
		if err == nil || judge(err) != again || time.Since(began) > w.fs.cfg.CloseTimeout {
			return err
		}
		if err := pauseFrom(w.ctx, time.Millisecond, try); err != nil {
			return err
		}
	}
}

// release gives the client of a complete file back.
func (w *fileWriter) release() { w.session.release() }

// abort ends the pipeline and releases the client. With retire, the client's leases expire.
func (w *fileWriter) abort() {
	w.fail(nil)
	w.session.retire()
	w.session.release()
}

// tooFewDataNodes reports whether the NameNode found no DataNode for a block.
func tooFewDataNodes(err error) bool {
	_, message := exception(err)
	return strings.Contains(message, "could only be written to") || strings.Contains(message, "could only be replicated to")
}
