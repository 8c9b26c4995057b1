package counter

import (
	"fmt"
	"strings"
)

// Len is the number of counters in all groups.
func (v Values) Len() int {
	n := 0
	for _, names := range v {
		n += len(names)
	}
	return n
}

// String is the counters as Hadoop prints them at the end of a job, without a
// newline at the end:
//
//	Counters: 2
//		Map-Reduce Framework
//			Map input records=3
//			Map output records=5
func (v Values) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Counters: %d", v.Len())
	for _, group := range v.Groups() {
		fmt.Fprintf(&b, "\n\t%s", group)
		for _, name := range v.Names(group) {
			fmt.Fprintf(&b, "\n\t\t%s=%d", name, v[group][name])
		}
	}
	return b.String()
}
