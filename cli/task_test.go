package cli

import (
	"testing"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/mr"
)

func TestServeTaskReturnsInAnOrdinaryProcess(t *testing.T) {
	all := runnables()
	if len(all) != len(examples.Programs()) {
		t.Errorf("%d programs have tasks", len(all))
	}
	mr.ServeTask(all...) // returns
}
