package leader

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web"
)

// Samples implements web.Source. Masters do not send samples to each other: each has its own.
func (s *Source) Samples(context.Context, web.SampleQuery) (web.Answer[apidoc.Samples], error) {
	return web.Answer[apidoc.Samples]{}, fmt.Errorf("samples over time are only on the pages of a master: %w", web.ErrUnavailable)
}
