package server

import (
	"bufio"
	"context"

	"connectrpc.com/connect"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// maxBackupChunk bounds the bytes of a backup in one message.
const maxBackupChunk = 1 << 20

// Backup implements wireconnect.JobmasterHandler. ctx ends with the stream.
func (c *calls) Backup(ctx context.Context, _ *wire.BackupRequest, stream *connect.ServerStream[wire.BackupChunk]) error {
	err := c.cfg.Confirm(ctx)
	if err == nil {
		chunks := bufio.NewWriterSize(backupStream{stream}, maxBackupChunk)
		if err = c.cfg.Admin.Backup(ctx, chunks); err == nil {
			err = chunks.Flush()
		}
	}
	return c.cfg.callError(err)
}

// backupStream sends what is written to it.
type backupStream struct {
	stream *connect.ServerStream[wire.BackupChunk]
}

// Write implements io.Writer.
func (s backupStream) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		chunk := p[n:min(len(p), n+maxBackupChunk)]
		if err = s.stream.Send(&wire.BackupChunk{Data: chunk}); err == nil {
			n += len(chunk)
		}
	}
	return n, err
}
