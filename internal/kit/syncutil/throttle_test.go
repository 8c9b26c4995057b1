package syncutil_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

func TestThrottleLetsOneEventThroughInASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var throttle syncutil.Throttle
		for second, want := range []int64{0, 4, 4} {
			for i := range 5 {
				skipped, ok := throttle.Allow()
				if ok != (i == 0) || ok && skipped != want {
					t.Errorf("second %d, event %d: %v with %d skipped", second, i, ok, skipped)
				}
			}
			time.Sleep(time.Second)
		}
	})
}
