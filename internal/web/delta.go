package web

import (
	"encoding/json"
	"strings"
)

// A delta leads from one version of a fragment to the next one (RFC 3229, with an encoding of our own).
// Both are split at each "<", so that a piece is a tag and the text after it. A delta is a JSON array of
// edits in the order of their places, each [index of the first old piece, number of old pieces, new pieces...].
const (
	deltaEncoding = "hammr-pieces" // in the headers A-IM and IM
	maxDifference = 100            // pieces of both versions that one edit may have, unless it is the last one
)

// deltaOf returns the delta between two versions, "" if it would be longer than half of the new one. It is
// greedy: after a difference it continues at the next place where the versions are equal. Versions come from
// the same template, so the delta is short. Libraries look for the shortest one, which takes seven times as long.
func deltaOf(old, now string) string {
	was, is := strings.Split(old, "<"), strings.Split(now, "<")
	edits := [][]any{}
	for i, j := 0, 0; i < len(was) || j < len(is); {
		if i < len(was) && j < len(is) && was[i] == is[j] {
			i, j = i+1, j+1
			continue
		}
		removed, added := differing(was[i:], is[j:])
		edit := []any{i, removed}
		for _, piece := range is[j : j+added] {
			edit = append(edit, piece)
		}
		edits = append(edits, edit)
		i, j = i+removed, j+added
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(edits) != nil || text.Len() > len(now)/2 {
		return ""
	}
	return text.String()
}

// differing returns how many pieces of each version come before the next place where they are equal.
func differing(was, is []string) (removed, added int) {
	for sum := 1; sum <= maxDifference; sum++ {
		for removed = max(0, sum-len(is)); removed <= min(sum, len(was)); removed++ {
			if added = sum - removed; equalHere(was[removed:], is[added:]) {
				return removed, added
			}
		}
	}
	return len(was), len(is)
}

// equalHere reports whether the next two pieces of both versions are equal. One is not enough, since most
// pieces, such as closing tags, occur at many places.
func equalHere(was, is []string) bool {
	if len(was) == 0 || len(is) == 0 {
		return len(was) == len(is)
	}
	return was[0] == is[0] && (len(was) == 1 || len(is) == 1 || was[1] == is[1])
}
