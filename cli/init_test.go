package cli

import (
	"testing"

	"github.com/hammr/hammr/internal/testing/inittest"
)

// TestPackageInit checks what hammr does before main.
func TestPackageInit(t *testing.T) { inittest.Check(t, 10) }
