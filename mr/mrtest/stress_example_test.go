package mrtest_test

import (
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

func ExampleStress() {
	lengths := mr.New("lengths", mr.TextLines(), mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[int64, int64]) error {
		out.Emit(int64(len(line)), 1)
		return nil
	}), mr.Sum[int64, int64](), mr.TextOutput[int64, int64]())

	test := func(t *testing.T) { mrtest.Stress(t, lengths, "one\ntwo\nthree\nfour\n") }
	_ = test // in a test file: func TestStress(t *testing.T)
}
