package mr_test

import (
	"testing"

	"github.com/hammr/hammr/internal/testing/inittest"
)

// TestPackageInit checks what a user's program does before main.
func TestPackageInit(t *testing.T) { inittest.Check(t, 5) }
