package splits

import (
	"strings"
	"unicode/utf8"
)

// A name of a local file is any bytes, and messages carry only UTF-8. So Split.Part.path has one
// rune for each byte of a name that is not UTF-8, from the end of the last private plane:
//
//	byte b                      rune escapes + b
//	a rune from escapes on      its bytes, in the same way
//
// All other names are as they are, so that tasks of other versions read them.
const escapes = 0x10FF00

// EncodePath returns the path of a part for the full name of a file.
func EncodePath(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, isEscape) {
		return name
	}
	var b strings.Builder
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		if r == utf8.RuneError && size == 1 || isEscape(r) {
			for _, c := range []byte(name[:size]) {
				b.WriteRune(escapes + rune(c))
			}
		} else {
			b.WriteString(name[:size])
		}
		name = name[size:]
	}
	return b.String()
}

// DecodePath returns the full name of the file of a part.
func DecodePath(path string) string {
	if !strings.ContainsFunc(path, isEscape) {
		return path
	}
	var b []byte
	for _, r := range path {
		if isEscape(r) {
			b = append(b, byte(r-escapes))
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

func isEscape(r rune) bool { return r >= escapes && r <= escapes+0xFF }
