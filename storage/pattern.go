package storage

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrPattern marks a malformed glob.
var ErrPattern = errors.New("storage: malformed pattern")

// maxAlternatives bounds the number of paths that the braces of a pattern expand to.
const maxAlternatives = 10_000

// A Pattern is a path in Hadoop's glob syntax:
//
//	?        any character but /
//	*        any characters but /
//	[a-c]    a character of the set; [^a-c] or [!a-c] any other
//	{ab,c}   ab or c, which may hold / and braces in turn
//	\x       the character x itself
//
// A pattern is parsed once into alternatives, one for each combination of its braces:
//
//	/logs/{2024,2025}-*  ──>  [logs] [2024-*]
//	                          [logs] [2025-*]
type Pattern struct {
	alternatives [][]component
}

// component matches one component of a path. If it has no wildcards, it is looked up by its
// name, so no directory is listed.
type component struct {
	literal string // the component itself, if tokens is nil
	tokens  []token
}

// HasGlob reports whether a pattern contains anything but literal characters.
func HasGlob(pattern string) bool { return strings.ContainsAny(pattern, `*?[{\`) }

// CompilePattern parses a glob. Errors wrap ErrPattern and quote the pattern.
func CompilePattern(pattern string) (*Pattern, error) {
	spelled, err := expandBraces(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrPattern, pattern, err)
	}
	p := &Pattern{}
	for _, alternative := range spelled {
		var components []component
		for _, name := range splitNames(alternative) {
			c, err := compileName(name)
			if err != nil {
				return nil, fmt.Errorf("%w %q: %w", ErrPattern, pattern, err)
			}
			components = append(components, c)
		}
		p.alternatives = append(p.alternatives, components)
	}
	return p, nil
}

// Literal returns the only path that the pattern matches, without its escapes. If the pattern has wildcards or
// braces, ok is false.
func (p *Pattern) Literal() (name string, ok bool) {
	if len(p.alternatives) != 1 {
		return "", false
	}
	for _, c := range p.alternatives[0] {
		if c.tokens != nil {
			return "", false
		}
		name += "/" + c.literal
	}
	return cmp.Or(name, "/"), true
}

// splitNames splits a path, or a pattern without braces, into its components.
func splitNames(name string) []string {
	var names []string
	for part := range strings.SplitSeq(name, "/") {
		if part != "" {
			names = append(names, part)
		}
	}
	return names
}

// compileName parses one component of a pattern without braces.
func compileName(name string) (component, error) {
	var c component
	var literal strings.Builder
	wild := false
	for rest := name; rest != ""; {
		t, r, n, err := readToken(rest)
		if err != nil {
			return c, err
		}
		rest = rest[n:]
		literal.WriteString(r)
		wild = wild || r == ""
		c.tokens = append(c.tokens, t)
	}
	if !wild {
		return component{literal: literal.String()}, nil
	}
	return c, nil
}

// match compares a name with the component. It backtracks only to the last star, so it takes
// at most len(name) × len(tokens) steps.
func (c *component) match(name string) bool {
	if c.tokens == nil {
		return name == c.literal
	}
	t, at := 0, 0
	star, starAt := -1, 0
	for at < len(name) {
		r, n := firstRune(name[at:])
		switch {
		case t < len(c.tokens) && c.tokens[t].star:
			star, starAt = t, at
			t++
		case t < len(c.tokens) && c.tokens[t].matches(r):
			t++
			at += n
		case star >= 0:
			_, n := firstRune(name[starAt:])
			starAt += n
			t, at = star+1, starAt
		default:
			return false
		}
	}
	for t < len(c.tokens) && c.tokens[t].star {
		t++
	}
	return t == len(c.tokens)
}

// token matches one character or, if star is set, any number of characters.
type token struct {
	star    bool
	any     bool
	negated bool
	ranges  []runeRange // a literal character is a range of one
}

// runeRange is the characters from lo to hi, both included.
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

// firstRune does what utf8.DecodeRuneInString does, but maps a byte that is not valid UTF-8
// to a character above the range of Unicode.
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

// matches reports whether the token matches one character. A star matches no character here;
// component.match handles it.
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
