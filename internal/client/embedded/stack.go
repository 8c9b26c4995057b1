package embedded

import (
	"bytes"
	"runtime"
	"strings"
)

// maxStackBytes bounds a dump of all goroutines.
const maxStackBytes = 16 << 20

// goroutineID returns the number of the calling goroutine, as in stack dumps.
func goroutineID() string {
	buf := make([]byte, 64)
	fields := bytes.Fields(buf[:runtime.Stack(buf, false)]) // "goroutine 12 [running]:"
	return string(fields[1])
}

// stacksOf returns the stacks of a goroutine and of its descendants, in this order.
func stacksOf(id string) string {
	return pickStacks(allStacks(), id)
}

// allStacks returns the stacks of all goroutines, about maxStackBytes at most. The size is
// not known in advance, so the buffer is doubled until the stacks fit.
func allStacks() string {
	for size := 1 << 16; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= maxStackBytes {
			return string(buf[:n])
		}
	}
}

// pickStacks selects parts of a dump whose parts are separated by empty lines: the part of
// goroutine id, and then the parts of its descendants. Goroutine id comes first because
// user code runs in it:
//
//	goroutine 12 [chan receive]:
//	main.f(…)
//		/src/f.go:10 +0x1d
//	created by main.g in goroutine 7
//		/src/g.go:20 +0x2c
func pickStacks(dump, id string) string {
	wanted := map[string]bool{id: true}
	parts := strings.Split(strings.TrimSpace(dump), "\n\n")
	for found := true; found; {
		found = false
		for _, part := range parts {
			number, parent := stackOwner(part)
			if number != "" && wanted[parent] && !wanted[number] {
				wanted[number], found = true, true
			}
		}
	}
	var first, others []string
	for _, part := range parts {
		switch number, _ := stackOwner(part); {
		case number == id:
			first = append(first, part)
		case wanted[number]:
			others = append(others, part)
		}
	}
	return strings.Join(append(first, others...), "\n\n")
}

// stackOwner returns the number of the goroutine that a part of a dump describes, and the
// number of the goroutine that started it; "" if unknown.
func stackOwner(part string) (number, parent string) {
	head, ok := strings.CutPrefix(part, "goroutine ")
	if !ok {
		return "", ""
	}
	number, _, _ = strings.Cut(head, " ")
	if _, tail, ok := strings.Cut(part, " in goroutine "); ok {
		parent, _, _ = strings.Cut(tail, "\n")
	}
	return number, parent
}
