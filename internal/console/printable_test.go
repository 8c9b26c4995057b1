package console

import "testing"

func TestPrintableEscapesControlCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":             "plain\ttext\n",
		"\x1b]0;title\a\x1b[2Jgone": `\x1b]0;title\a\x1b[2Jgone`,
		"\u009b31m\r\x7f":           `\u009b31m\r\x7f`,
		"Grüße 世界":                  "Grüße 世界",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
