package web

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// A delta leads from one version of a fragment to the next one (RFC 3229, with an encoding of our own).
// Both are cut before each "<", so that a piece is a tag and the text after it. A delta is a JSON array of
// edits, by position; the pieces of one edit are [first old piece, number of old pieces, new pieces...].
const (
	deltaEncoding = "hammr-pieces" // in the headers A-IM and IM
	maxPieces     = 20_000         // of a version; there is no delta of longer ones
	deltaTime     = 20 * time.Millisecond
)

// deltaOf returns the delta between two versions, "" if they have too little in common.
func deltaOf(old, now string) string {
	was, is := strings.Split(old, "<"), strings.Split(now, "<")
	if len(was) > maxPieces || len(is) > maxPieces {
		return ""
	}
	codes := make(map[string]rune, len(was))
	differ := diffmatchpatch.New()
	differ.DiffTimeout = deltaTime // after that, it replaces more than needed
	edits := [][]any{}
	last := -1 // the edit that the next difference belongs to; -1 for a new one
	from, to := 0, 0
	for _, d := range differ.DiffMainRunes(codesOf(codes, was), codesOf(codes, is), false) {
		n := len([]rune(d.Text))
		if d.Type == diffmatchpatch.DiffEqual {
			from, to, last = from+n, to+n, -1
			continue
		}
		if last < 0 {
			last = len(edits)
			edits = append(edits, []any{from, 0})
		}
		if d.Type == diffmatchpatch.DiffDelete {
			from += n
			edits[last][1] = n // before the pieces that are inserted
			continue
		}
		for _, piece := range is[to : to+n] {
			edits[last] = append(edits[last], piece)
		}
		to += n
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(edits) != nil || text.Len() > len(now)/2 {
		return ""
	}
	return text.String()
}

// codesOf returns a number for each piece, the same for equal ones.
func codesOf(codes map[string]rune, pieces []string) []rune {
	list := make([]rune, len(pieces))
	for i, p := range pieces {
		code, known := codes[p]
		if !known {
			code = rune(len(codes) + 1)
			codes[p] = code
		}
		list[i] = code
	}
	return list
}
