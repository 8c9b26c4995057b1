package syncutil_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
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

// TestEach compares the errors, and how many calls run at once, which end together in fake time.
func TestEach(t *testing.T) {
	for atOnce, want := range map[int]time.Duration{0: time.Second, 2: 2 * time.Second, 1: 3 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			err := syncutil.Each([]string{"a", "b", "c"}, atOnce, func(name string) error {
				time.Sleep(time.Second)
				if name == "b" {
					return nil
				}
				return errors.New(name)
			})
			if err == nil || err.Error() != "a\nc" || time.Since(begin) != want {
				t.Errorf("%d at once: %v after %v, want %v", atOnce, err, time.Since(begin), want)
			}
		})
	}
	if err := syncutil.Each(nil, 0, func(int) error { return errors.New("called") }); err != nil {
		t.Error(err)
	}
}
