package clean

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLineBytes is the length of a line on a page. Browsers are slow with longer ones.
const MaxLineBytes = 64 << 10

// Text returns text with some characters as Go escapes them: control characters except newlines and
// tabs, controls of the direction of writing, and the separators of lines and paragraphs of Unicode.
// Bytes that are not UTF-8 become U+FFFD. Text does not cut text off.
func Text(text string) string { return escape(text, "\n\t") }

// Line is Text for text on one line: it escapes newlines and tabs too, and it cuts off what does not
// fit into maxBytes, at a character, with an ellipsis. The result may be longer than maxBytes by the
// escapes and the ellipsis.
func Line(text string, maxBytes int) string {
	if len(text) > maxBytes {
		return escape(text[:cut(text, maxBytes)], "") + "…"
	}
	return escape(text, "")
}

// CutLines returns text without the rest of the lines that are longer than maxBytes. A note about how
// much is missing takes its place.
func CutLines(text string, maxBytes int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		if len(body) <= maxBytes {
			b.WriteString(line)
			continue
		}
		n := cut(body, maxBytes)
		fmt.Fprintf(&b, "%s… (%d more bytes)", body[:n], len(body)-n)
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// cut returns the largest number of bytes, at most maxBytes, that ends at a character. It is less
// than maxBytes by at most three, also in text that is not UTF-8.
func cut(text string, maxBytes int) int {
	n := max(0, min(len(text), maxBytes))
	for back := 0; back < utf8.UTFMax && n-back >= 0 && n < len(text); back++ {
		if utf8.RuneStart(text[n-back]) {
			return n - back
		}
	}
	return n
}

// escape escapes the characters of a text that are not safe and not in except.
func escape(text, except string) string {
	safe := func(r rune) bool { return isSafe(r) || strings.ContainsRune(except, r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !safe(r) }) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for _, r := range text { // yields U+FFFD for each byte that is not UTF-8
		if safe(r) {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// isSafe reports whether a character can neither control a terminal nor reorder or break the text
// around it.
func isSafe(r rune) bool {
	switch {
	case ' ' <= r && r <= '~': // most are, and this is quick
		return true
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
		return false
	}
	return true
}
