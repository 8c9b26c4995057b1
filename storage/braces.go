package storage

import (
	"errors"
	"fmt"
	"strings"
)

// expandBraces expands the {a,b} groups of a pattern into patterns without braces, one for
// each combination, in the order written. A brace inside a [set] is a member of the set.
// Escaped braces stay escaped. Hadoop's GlobExpander expands only braces that contain a
// slash. This function expands all braces, with the same matches.
//
//	/{a,b{1,2}}/c  ──>  /a/c  /b1/c  /b2/c
func expandBraces(pattern string) ([]string, error) {
	open := indexOutside(pattern, "{")
	if open < 0 {
		return []string{pattern}, nil
	}
	choices, end, err := readBraces(pattern[open:])
	if err != nil {
		return nil, err
	}
	tails, err := expandBraces(pattern[open+end:])
	if err != nil {
		return nil, err
	}
	var spelled []string
	for _, choice := range choices {
		inner, err := expandBraces(choice)
		if err != nil {
			return nil, err
		}
		if len(spelled)+len(inner)*len(tails) > maxAlternatives {
			return nil, fmt.Errorf("its braces spell out more than %d paths", maxAlternatives)
		}
		for _, middle := range inner {
			for _, tail := range tails {
				spelled = append(spelled, pattern[:open]+middle+tail)
			}
		}
	}
	return spelled, nil
}

// readBraces parses the group that starts at s[0]. It returns the choices and the offset
// behind the closing brace.
func readBraces(s string) (choices []string, end int, err error) {
	depth, from := 1, 1
	for at := 1; ; at++ {
		next := indexOutside(s[at:], "{},")
		if next < 0 {
			return nil, 0, errors.New("no } ends the group " + s)
		}
		at += next
		switch {
		case s[at] == '{':
			depth++
		case s[at] == '}':
			depth--
			if depth == 0 {
				return append(choices, s[from:at]), at + 1, nil
			}
		case depth == 1: // a comma
			choices = append(choices, s[from:at])
			from = at + 1
		}
	}
}

// indexOutside does what strings.IndexAny does, but skips escaped characters and sets.
func indexOutside(s, chars string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '[':
			_, n, err := readSet(s[i:])
			if err == nil {
				i += n - 1
			}
		case strings.IndexByte(chars, s[i]) >= 0:
			return i
		}
	}
	return -1
}
