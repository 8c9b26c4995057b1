package console

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable returns text with its control characters as Go escapes them, except newlines and
// tabs. What tasks print could otherwise change the terminal of the user who reads their logs.
func Printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
