package localcluster_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

func itoa(n int) string { return strconv.Itoa(n) }

// waitUntil waits until a condition holds.
func waitUntil(t *testing.T, so func() bool) {
	t.Helper()
	if err := syncutil.Poll(t.Context(), 20*time.Millisecond, func(context.Context) (bool, error) { return so(), nil }); err != nil {
		t.Error(err)
	}
}
