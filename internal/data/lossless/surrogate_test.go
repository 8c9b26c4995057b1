package lossless

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestLoneSurrogate(t *testing.T) {
	for doc, want := range map[string]string{
		`{}`:                           "",
		`"a\n\u0041\\"`:                "",
		`"\ud83d\ude00"`:               "",
		`"\uD83D\uDE00\ud83d\ude00"`:   "",
		`"\ud7ff\ue000\ufffd"`:         "",
		`"\\ud800"`:                    "",
		`"\\\\ud800"`:                  "",
		`"\\u0041\\\\\\ud800"`:         "",
		`{"a":"\ud800"}`:               `\ud800`,
		`"\\\ud800"`:                   `\ud800`,
		`"\uDBFF"`:                     `\uDBFF`,
		`"\udc00"`:                     `\udc00`,
		`"\uDFFFa"`:                    `\uDFFF`,
		`"\ud83d\ud83d\ude00"`:         `\ud83d`,
		`"\ud83d\ude00\ude00"`:         `\ude00`,
		`"\ude00\ud83d"`:               `\ude00`,
		`"\ud83da\ude00"`:              `\ud83d`,
		`"\ud83d\n\ude00"`:             `\ud83d`,
		`"\ud83d\\ude00"`:              `\ud83d`,
		`["\ud83d","\ude00"]`:          `\ud83d`,
		`{"\ud801":1,"b":"\ud802"}`:    `\ud801`,
		`{"a":"\u00e9","b":"x\ud9ab"}`: `\ud9ab`,
	} {
		if !json.Valid([]byte(doc)) {
			t.Errorf("%s is no JSON", doc)
		}
		if got := LoneSurrogate([]byte(doc)); got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
}

// TestLoneSurrogateAsJSONDecodes compares with what encoding/json makes of random strings.
func TestLoneSurrogateAsJSONDecodes(t *testing.T) {
	parts := []string{`\\`, `\ud800`, `\uDBFF`, `\udc00`, `\uDFFF`, `\u0041`, `\"`, `\n`, "u", "ud800", "é", "a"}
	random := rand.New(rand.NewPCG(3, 4))
	refused := 0
	for range 50_000 {
		var doc strings.Builder
		for range random.IntN(8) {
			doc.WriteString(parts[random.IntN(len(parts))])
		}
		text := `"` + doc.String() + `"`
		var s string
		must.Do(t, json.Unmarshal([]byte(text), &s))
		changed := strings.Contains(s, "\uFFFD")
		if changed {
			refused++
		}
		if got := LoneSurrogate([]byte(text)); (got != "") != changed {
			t.Fatalf("%s decodes as %q; found %q", text, s, got)
		}
	}
	if refused < 1000 {
		t.Errorf("only %d strings were changed", refused)
	}
}

func TestLoneSurrogateAllocatesNothing(t *testing.T) {
	doc := []byte(`{"name":"\ud83d\ude00 \u00e9","n":1}`)
	if n := testing.AllocsPerRun(100, func() { LoneSurrogate(doc) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
