package mr_test

import (
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestFunctionsKnowTheirStage reads Stage and Nodes in a mapper. The client calls the same
// mapper when it samples keys.
func TestFunctionsKnowTheirStage(t *testing.T) {
	where := mr.MapFunc(func(t *mr.Task, _ int64, line string, out countEmitter) error {
		out.Emit(line+" "+t.Stage(), int64(t.Nodes()))
		return nil
	})
	job := mr.New("where", mr.TextStrings(), where, mr.Sum[string, int64](), mr.TextOutput[string, int64]()).TotalOrder()
	got := mrtest.RunCase(t, job, mrtest.Case{Inputs: []string{"a", "b"}, Set: map[string]string{
		"mapreduce.job.reduces": "2", "hammr.input.combine": "false",
	}}).Text()
	if want := "a map\t2\nb map\t2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
