package mr

import (
	"math"
	"testing"
	"time"
)

type celsius float64

func (c celsius) String() string { return "warm" }

func checkText[T any](t *testing.T, v T, want string) {
	t.Helper()
	if got := string(textOf[T]()([]byte("x"), v)); got != "x"+want {
		t.Errorf("text of %T %v is %q, want %q", v, v, got[1:], want)
	}
}

func TestTextOf(t *testing.T) {
	checkText(t, []byte("a\x00b"), "a\x00b")
	checkText(t, "ü", "ü")
	checkText(t, int64(math.MinInt64), "-9223372036854775808")
	checkText(t, int32(-1), "-1")
	checkText(t, 7, "7")
	checkText(t, uint64(math.MaxUint64), "18446744073709551615")
	checkText(t, uint8(200), "200")
	checkText(t, 0.1, "0.1")
	checkText(t, true, "true")
	checkText(t, struct{}{}, "")
	checkText(t, celsius(20), "warm")
	checkText(t, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), "2026-01-02T03:04:05.000000006Z")
}

func TestSimpleTextDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 64)
	number, text := textOf[int64](), textOf[[]byte]()
	word := []byte("word")
	if n := testing.AllocsPerRun(100, func() { dst = number(text(dst[:0], word), 12345) }); n != 0 {
		t.Errorf("%v allocations for a line", n)
	}
}
