package conf

import (
	"slices"
	"strings"
)

// all lists every declared property.
var all = slices.Concat(declared, refusedKeys, ignoredKeys)

// table and aliases index the declared properties by name and by old name.
var table, aliases = index(all)

// index makes the two maps. A test checks that no name or alias is declared twice.
func index(keys []Key) (byName map[string]*Key, byAlias map[string]string) {
	byName, byAlias = map[string]*Key{}, map[string]string{}
	for i := range keys {
		byName[keys[i].Name] = &keys[i]
		for _, alias := range keys[i].Aliases {
			byAlias[alias] = keys[i].Name
		}
	}
	return byName, byAlias
}

// Keys returns the declared properties, sorted by name, for help and docs.
func Keys() []Key {
	keys := slices.Clone(all)
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return keys
}

// undeprecated returns the current name of a property. Every exported function calls it
// first, so that the rest of the package sees only current names.
func undeprecated(name string) (current string, deprecated bool) {
	if current, ok := aliases[name]; ok {
		return current, true
	}
	return name, false
}

// nearest returns the declared name with the given prefix that is closest to name in edit
// distance, if the distance is at most limit; else "". It suggests a name for a misspelt
// one.
func nearest(name, prefix string, limit int) string {
	best := ""
	for i := range all {
		candidate := all[i].Name
		if !strings.HasPrefix(candidate, prefix) || max(len(name), len(candidate))-min(len(name), len(candidate)) > limit {
			continue
		}
		if d := distance(name, candidate); d <= limit {
			// Only a nearer candidate replaces the best, so the first of equals in the order
			// of the table wins.
			best, limit = candidate, d-1
		}
	}
	return best
}

// distance is Levenshtein's distance: the least number of bytes to insert, remove or replace
// to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
