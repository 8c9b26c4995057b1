package remote

import (
	"context"
	"fmt"
	"io"

	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Backup implements client.Admin. It asks the next master only as long as nothing was written: the
// parts of two backups do not fit together.
func (c *Client) Backup(ctx context.Context, to io.Writer) error {
	return c.masters.Do(ctx, func(ctx context.Context, m *rpc.Master) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := m.Backup(ctx, new(wire.BackupRequest))
		if err != nil {
			return err
		}
		defer stream.Close() // Err returns the error that matters
		written := 0
		for stream.Receive() {
			n, err := to.Write(stream.Msg().Data)
			if written += n; err != nil {
				return err
			}
		}
		if err := stream.Err(); err != nil && written > 0 {
			return fmt.Errorf("backup ended after %d bytes: %s; make it again", written, err) // not retried
		}
		return stream.Err()
	})
}
