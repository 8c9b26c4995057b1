package examples

import (
	"maps"
	"testing"

	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestWordcount(t *testing.T) {
	got := mrtest.Run(t, wordcount.Job, "a b a\n", "b\tc\r\nc\fb").Map()
	want := map[string]int64{"a": 2, "b": 3, "c": 2}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
