package stacks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestGrouped(t *testing.T) {
	const text = `goroutine 1 [running]:
main.main()
	/src/main.go:12 +0x1d

goroutine 7 [chan receive, 5 minutes]:
main.(*pool).wait(0xc000010000, {0x1, 0x2}, ...)
	/src/pool.go:30 +0x1d
created by main.(*pool).start in goroutine 1
	/src/pool.go:10 +0x99

goroutine 8 gp=0xc0001 m=nil [chan receive, 17 minutes, locked to thread]:
main.(*pool).wait(...)
	/src/pool.go:30
created by main.(*pool).start in goroutine 6
	/src/pool.go:10 +0x99

goroutine 9 [chan receive]:
main.(*pool).wait(0x7?, {0x1, 0x2}, ...)
	/src/pool.go:30 +0x22
created by main.(*pool).start in goroutine 2
	/src/pool.go:10 +0x98

not a stack
`
	groups, goroutines, leftOut := Grouped([]byte(text))
	const wait = "main.(*pool).wait\n\t/src/pool.go:30\ncreated by main.(*pool).start\n\t/src/pool.go:10"
	want := []Group{{1, "chan receive, locked to thread", 17, wait, 2}, {2, "chan receive", 5, wait, 1}, {1, "running", 0, "main.main\n\t/src/main.go:12", 0}}
	if !slices.Equal(groups, want) || goroutines != 4 || leftOut != 0 {
		t.Errorf("%d goroutines, %d left out, %+v", goroutines, leftOut, groups)
	}
	var many strings.Builder
	for i := range maxGroups + 20 {
		fmt.Fprintf(&many, "goroutine %d [select]:\nmain.f%d()\n\t/src/main.go:1 +0x1\n\n", i, i)
	}
	if groups, goroutines, leftOut := Grouped([]byte(many.String())); len(groups) != maxGroups || leftOut != 20 || goroutines != maxGroups+20 {
		t.Errorf("%d groups, %d left out of %d", len(groups), leftOut, goroutines)
	}
}
