package storage

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// token matches one character or, if star is set, any number of characters.
type token struct {
	star    bool
	any     bool
	negated bool
	ranges  []runeRange // a literal character is a range of one
}

type runeRange struct{ lo, hi rune }

// readToken parses the first token of s, which takes n bytes. Literal is the character that
// it matches, or "" for a wildcard.
func readToken(s string) (t token, literal string, n int, err error) {
	switch s[0] {
	case '*':
		return token{star: true}, "", 1, nil
	case '?':
		return token{any: true}, "", 1, nil
	case '[':
		t, n, err := readSet(s)
		return t, "", n, err
	}
	r, n, err := readRune(s)
	return token{ranges: []runeRange{{r, r}}}, strings.TrimPrefix(s[:n], `\`), n, err
}

// readRune parses one character, with or without a leading backslash.
func readRune(s string) (r rune, n int, err error) {
	if s[0] != '\\' {
		r, n = firstRune(s)
		return r, n, nil
	}
	if len(s) == 1 {
		return 0, 1, errors.New(`nothing follows the last \`)
	}
	r, n = firstRune(s[1:])
	return r, n + 1, nil
}

// firstRune is utf8.DecodeRuneInString, but maps a byte that is not valid UTF-8 to a
// character above the range of Unicode.
func firstRune(s string) (r rune, n int) {
	r, n = utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return utf8.MaxRune + 1 + rune(s[0]), 1
	}
	return r, n
}

// readSet parses a [set]. A ] at the start is a member of the set.
func readSet(s string) (t token, n int, err error) {
	n = 1
	if n < len(s) && (s[n] == '^' || s[n] == '!') {
		t.negated = true
		n++
	}
	for first := true; n < len(s); first = false {
		if s[n] == ']' && !first {
			return t, n + 1, nil
		}
		lo, width, err := readRune(s[n:])
		if err != nil {
			return t, n, err
		}
		n += width
		hi := lo
		if n+1 < len(s) && s[n] == '-' && s[n+1] != ']' {
			if hi, width, err = readRune(s[n+1:]); err != nil {
				return t, n, err
			}
			n += 1 + width
		}
		if hi < lo {
			return t, n, fmt.Errorf("the range %c-%c of %s is empty", lo, hi, s)
		}
		t.ranges = append(t.ranges, runeRange{lo, hi})
	}
	return t, n, fmt.Errorf("no ] ends the set %s", s)
}

func (t *token) matches(r rune) bool {
	if t.any {
		return true
	}
	for _, in := range t.ranges {
		if in.lo <= r && r <= in.hi {
			return !t.negated
		}
	}
	return t.negated
}
