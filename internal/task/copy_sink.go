package task

import (
	"context"
	"io"

	"github.com/hammr/hammr/shuffle"
)

// liveSink passes copies to the intake. Each byte that arrives is a sign of life.
type liveSink struct {
	intake  *shuffle.Intake
	attempt *Attempt
}

// AddRemote implements transfer.Sink.
func (s liveSink) AddRemote(ctx context.Context, runs []shuffle.Run, ordinal shuffle.Ordinal, open shuffle.OpenRun) error {
	return s.intake.AddRemote(ctx, runs, ordinal, func(ctx context.Context, run shuffle.Run) (io.ReadCloser, error) {
		body, err := open(ctx, run)
		if err != nil {
			return nil, err
		}
		return liveBody{body, s.attempt}, nil
	})
}

// liveBody is the body of a run that is being copied.
type liveBody struct {
	io.ReadCloser
	attempt *Attempt
}

// Read implements io.Reader.
func (b liveBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.attempt.KeepAlive()
	}
	return n, err
}
