//go:build soak

package e2e

import (
	"os"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestSoakAllMastersLost stops all masters for HAMMR_SOAK_OUTAGE, a minute by default:
// longer than the expiry of tasknodes.
func TestSoakAllMastersLost(t *testing.T) {
	outage := time.Minute
	if text := os.Getenv("HAMMR_SOAK_OUTAGE"); text != "" {
		var err error
		outage, err = time.ParseDuration(text)
		must.Do(t, err)
	}
	allMastersLost(t, outage)
}
