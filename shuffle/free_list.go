package shuffle

import (
	"cmp"
	"fmt"
	"slices"
)

// extent is a range of bytes of an arena.
type extent struct{ from, to int64 }

func (e extent) length() int64 { return e.to - e.from }

// freeList is the free ranges of an arena: ascending, not empty, and not adjacent.
type freeList []extent

// take cuts n bytes, more than 0, off the first range that has them. Taking from the front
// reuses memory that was used before, and leaves the rest of the arena untouched.
func (f *freeList) take(n int64) (e extent, ok bool) {
	for i := range *f {
		free := &(*f)[i]
		if free.length() < n {
			continue
		}
		e = extent{free.from, free.from + n}
		free.from = e.to
		if free.length() == 0 {
			*f = slices.Delete(*f, i, i+1)
		}
		return e, true
	}
	return extent{}, false
}

// give returns what was taken, or a part of it that is not empty.
func (f *freeList) give(e extent) {
	i, _ := slices.BinarySearchFunc(*f, e.from, func(free extent, from int64) int {
		return cmp.Compare(free.from, from)
	})
	before := i > 0 && (*f)[i-1].to >= e.from
	after := i < len(*f) && (*f)[i].from <= e.to
	if before && (*f)[i-1].to > e.from || after && (*f)[i].from < e.to {
		panic(fmt.Sprintf("shuffle: bytes %d to %d of an arena are free already", e.from, e.to))
	}
	switch {
	case before && after:
		(*f)[i-1].to = (*f)[i].to
		*f = slices.Delete(*f, i, i+1)
	case before:
		(*f)[i-1].to = e.to
	case after:
		(*f)[i].from = e.from
	default:
		*f = slices.Insert(*f, i, e)
	}
}
