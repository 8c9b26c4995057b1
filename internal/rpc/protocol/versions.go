// Package protocol has the ranges of versions in which two programs of different releases talk
// to each other.
//
// A program speaks the newest version of its range, and older ones with programs that know no
// newer one. A change that an older program would misunderstand gets a new version. As a rule
// a range has two versions, so that a cluster can be upgraded from one release to the next
// while it works.
package protocol

import (
	"fmt"
	"strconv"
	"strings"
)

// Versions is a range of versions, from 1.
type Versions struct {
	Oldest int // oldest version that the program still accepts; at most Newest
	Newest int
}

// Accepts reports whether a version is in the range.
func (v Versions) Accepts(version int) bool { return v.Oldest <= version && version <= v.Newest }

// Common returns the newest version that both ranges have.
func (v Versions) Common(other Versions) (version int, ok bool) {
	version = min(v.Newest, other.Newest)
	return version, v.Accepts(version) && other.Accepts(version)
}

// between separates the ends of a range in a text.
const between = " to "

// String returns "2" for one version, and "1 to 2" for more.
func (v Versions) String() string {
	if v.Oldest == v.Newest {
		return strconv.Itoa(v.Newest)
	}
	return fmt.Sprint(v.Oldest, between, v.Newest)
}

// Parse reads what String has printed.
func Parse(text string) (v Versions, err error) {
	oldest, newest, isRange := strings.Cut(text, between)
	if !isRange {
		newest = oldest
	}
	first, err := strconv.ParseUint(oldest, 10, 31)
	last, wrong := strconv.ParseUint(newest, 10, 31)
	if err != nil || wrong != nil || first > last || first == 0 {
		return Versions{}, fmt.Errorf("versions %q: not a version, or a range such as 1 to 2", text)
	}
	return Versions{Oldest: int(first), Newest: int(last)}, nil
}
