package syncutil_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/syncutil"
)

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(enough) })
		for _, c := range []struct {
			d, want time.Duration
			err     error
		}{{-1, 0, nil}, {time.Second, time.Second, nil}, {time.Hour, 2 * time.Second, enough}, {0, 0, nil}, {time.Hour, 0, enough}} {
			begin := time.Now()
			if err := syncutil.Sleep(ctx, c.d); !errors.Is(err, c.err) || time.Since(begin) != c.want {
				t.Errorf("%v: %v after %v, want %v after %v", c.d, err, time.Since(begin), c.err, c.want)
			}
		}
	})
}
