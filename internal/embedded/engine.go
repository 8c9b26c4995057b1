package embedded

import (
	"context"
	"errors"

	"github.com/hammr/hammr/internal/client"
)

// Engine is a running jobmaster with one tasknode.
type Engine struct{ client client.Client }

// Start starts an engine. Its jobs end, killed, when ctx does.
func Start(_ context.Context, cfg Config) (*Engine, error) {
	cfg.EnsureDefaults()
	return nil, errors.Join(cfg.Validate(), errors.ErrUnsupported)
}

// Client submits jobs to the engine.
func (e *Engine) Client() client.Client { return e.client }

// Close kills the jobs that run, waits for every goroutine of the engine and
// removes its temporary files.
func (e *Engine) Close() error { return nil }
