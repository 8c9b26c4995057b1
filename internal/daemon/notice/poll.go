package notice

import (
	"context"
	"fmt"
	"time"
)

// value is what a metadata service is asked for, and what it says.
type value struct {
	path   string
	decode func(body []byte) ([]Notice, error)
}

// poller is the Source of all clouds. They differ in what is asked for, and in how.
type poller struct {
	*service
	values []value // in the order in which they are asked for
	// get returns a value, nil if nothing holds. It waits before that, up to the given time.
	get func(ctx context.Context, path string, wait time.Duration) ([]byte, error)
}

// Poll implements Source. It waits at the first value.
func (p *poller) Poll(ctx context.Context, wait time.Duration) (notices []Notice, err error) {
	for _, v := range p.values {
		body, err := p.get(ctx, v.path, wait)
		if err != nil {
			return nil, err
		}
		wait = 0
		if body == nil {
			continue
		}
		found, err := v.decode(body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.path, err)
		}
		notices = append(notices, found...)
	}
	return notices, nil
}

// Acknowledge implements Source, for clouds that have no acknowledgements.
func (*poller) Acknowledge(context.Context, Notice) error { return nil }
