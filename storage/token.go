package storage

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// token matches one character, or any run of them when it is a star.
type token struct {
	star    bool
	any     bool
	negated bool
	ranges  []runeRange // for a literal character, the range of it alone
}

type runeRange struct{ lo, hi rune }

// readToken reads the first token of s and the n bytes it takes; literal is
// the character it stands for, or "" when it is a wildcard.
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

// readRune reads one character, which a backslash may stand before.
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

// firstRune is utf8.DecodeRuneInString, but a byte that is no UTF-8 is a
// character of its own above all of Unicode's.
func firstRune(s string) (r rune, n int) {
	r, n = utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return utf8.MaxRune + 1 + rune(s[0]), 1
	}
	return r, n
}

// readSet reads a [set]. A ] right at its start is a member of it.
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
