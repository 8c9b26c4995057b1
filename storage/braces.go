package storage

import (
	"errors"
	"fmt"
	"strings"
)

// expandBraces spells out the {a,b} of a pattern: one pattern without braces
// for each choice, in the order written. Braces within a [set] are members of
// it, and escaped ones stay escaped.
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

// readBraces reads a group that begins at s[0] and returns its choices and
// where it ends.
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

// indexOutside is strings.IndexAny that passes over escaped characters and
// over sets.
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
