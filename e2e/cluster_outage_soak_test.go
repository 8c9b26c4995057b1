//go:build soak

package e2e

import (
	"os"
	"testing"
	"time"
)

// TestSoakAllMastersLost has the cluster without a master for HAMMR_SOAK_OUTAGE, a
// minute when unset: longer than the silence after which tasknodes are given up.
func TestSoakAllMastersLost(t *testing.T) {
	outage := time.Minute
	if text := os.Getenv("HAMMR_SOAK_OUTAGE"); text != "" {
		var err error
		outage, err = time.ParseDuration(text)
		must(t, err)
	}
	allMastersLost(t, outage)
}
