package shuffle

import (
	"cmp"
	"testing"

	"pgregory.net/rapid"
)

// TestDigitsOrderLikeSortKeys compares the digits of two sort keys, from the first byte to the
// last, with the sort keys themselves.
func TestDigitsOrderLikeSortKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]string{"0123456789", "abcdefgh", "\x00\x7f\x80\xff", "ab0"}).Draw(t, "alphabet")
		key := rapid.Custom(func(t *rapid.T) entry {
			prefix, rest := sortKey([]byte(rapid.StringOfN(rapid.SampledFrom([]rune(alphabet)), 0, 12, -1).Draw(t, "key")))
			return entry{prefix: prefix, rest: rest}
		})
		a := rapid.SliceOfN(key, 2, 6).Draw(t, "entries")
		varying := differences(a)
		want := cmp.Or(cmp.Compare(a[0].prefix, a[1].prefix), cmp.Compare(a[0].rest, a[1].rest))
		got := 0
		for at := 0; at < sortKeyDigits && got == 0; {
			d := digitAt(&varying, at)
			got = cmp.Compare(d.of(&a[0]), d.of(&a[1]))
			at += d.bytes
		}
		if got != want {
			t.Fatalf("digits order %x and %x as %d, sort keys as %d", a[0], a[1], got, want)
		}
	})
}
