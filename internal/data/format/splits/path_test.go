package splits

import (
	"testing"
	"unicode/utf8"
)

func TestPathsOfAnyBytes(t *testing.T) {
	for name, want := range map[string]string{
		"file:///in/a":              "file:///in/a",
		"file:///in/größe 𝄞 \uFFFD": "file:///in/größe 𝄞 \uFFFD",
		"file:///in/a\xff":          "file:///in/a\U0010FFFF",
		"\xc3":                      "\U0010FFC3",
		"x\U0010FF41y":              "x\U0010FFF4\U0010FF8F\U0010FFBD\U0010FF81y",
	} {
		got := EncodePath(name)
		if got != want || !utf8.ValidString(got) || DecodePath(got) != name {
			t.Errorf("path of %q: %q, want %q; decoded %q", name, got, want, DecodePath(got))
		}
	}
}

func FuzzPath(f *testing.F) {
	f.Add("file:///in/\xff\xc3\xa4\U0010FF41")
	f.Fuzz(func(t *testing.T, name string) {
		if path := EncodePath(name); !utf8.ValidString(path) || DecodePath(path) != name {
			t.Errorf("path of %q: %q, decoded %q", name, path, DecodePath(path))
		}
	})
}
