package embedded

import (
	"errors"
	"sync/atomic"

	"github.com/hammr/hammr/jobmaster"
)

// Pages serves the pages of a jobmaster at an address until stop is called.
type Pages func(m *jobmaster.Master, cluster, address string) (url string, stop func(), err error)

// pages is what serves pages, nil in programs without pages.
var pages atomic.Pointer[Pages]

// RegisterPages lets engines of this process serve pages. It is called before the first engine starts.
// Programs of users do not call it, because the pages would double their size.
func RegisterPages(p Pages) { pages.Store(&p) }

// ServePages serves the pages of the engine until Close.
func (e *Engine) ServePages(address string) (url string, err error) {
	serve := pages.Load()
	if serve == nil {
		return "", errors.New("this program has no pages: 'hammr run' serves those of bundled programs, and the masters of a cluster those of all jobs")
	}
	url, stop, err := (*serve)(e.master, e.cluster, address)
	e.stopPages = stop
	return url, err
}
