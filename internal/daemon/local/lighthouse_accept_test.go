//go:build accept

package local

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestPagesForLighthouse serves the pages of a simulated job of TASKS maps until its standard input
// ends, for accept/lighthouse.sh. It prints their address.
func TestPagesForLighthouse(t *testing.T) {
	tasks, err := strconv.Atoi(os.Getenv("TASKS"))
	if err != nil {
		t.Skip("TASKS has no number of maps")
	}
	source, now, _ := simulate(t, 200, tasks, 0)
	root, stop, err := Serve(source, "simulation", "127.0.0.1:0", now)
	must.Do(t, err)
	defer stop()
	fmt.Println(root)
	_, _ = io.Copy(io.Discard, os.Stdin) // an error ends it too
}
