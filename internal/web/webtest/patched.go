package webtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Patched applies a delta to the text of a fragment, as live.js does.
func Patched(text string, delta []byte) (string, error) {
	var edits [][]any
	if err := json.Unmarshal(delta, &edits); err != nil {
		return "", fmt.Errorf("delta %.200q: %w", delta, err)
	}
	pieces := strings.Split(text, "<")
	for _, e := range slices.Backward(edits) {
		var added []string
		for _, value := range e[2:] {
			added = append(added, value.(string))
		}
		at, count := int(e[0].(float64)), int(e[1].(float64))
		if at < 0 || count < 0 || at+count > len(pieces) {
			return "", fmt.Errorf("edit %v of a text of %d pieces", e, len(pieces))
		}
		pieces = slices.Replace(pieces, at, at+count, added...)
	}
	return strings.Join(pieces, "<"), nil
}
