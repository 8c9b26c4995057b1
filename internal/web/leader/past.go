package leader

import (
	"errors"

	"github.com/hammr/hammr/internal/web"
)

// orPast returns an answer of the masters. If they do not know the job, it returns that of the
// histories, if they do.
func orPast[T any](s *Source, a web.Answer[T], err error, ask func(past web.Source) (web.Answer[T], error)) (web.Answer[T], error) {
	if s.cfg.Past == nil || !errors.Is(err, web.ErrUnknown) {
		return a, err
	}
	old, oldErr := ask(s.cfg.Past)
	if errors.Is(oldErr, web.ErrUnknown) {
		return a, err
	}
	return old, oldErr
}
