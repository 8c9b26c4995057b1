package mr

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowWords is the dumb twin of Words: it reads one byte at a time.
func slowWords(line []byte) [][]byte {
	return bytes.FieldsFunc(line, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
}

func TestWordsAgainstFields(t *testing.T) {
	alphabet := []byte("ab \t\n\r\f\x00\x01\x0b\x1f\x21\x7f\x80\xa0\xff")
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 200).Draw(t, "line")
		got, want := slices.Collect(Words(line)), slowWords(line)
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("Words(%q) = %q, want %q", line, got, want)
		}
	})
}

func TestWordsStopsWhenAsked(t *testing.T) {
	var got []string
	for w := range Words([]byte("one two three")) {
		got = append(got, string(w))
		if len(got) == 2 {
			break
		}
	}
	if !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("got %q", got)
	}
}
