package reachable

import "testing"

type node struct {
	next *node
	text string
	m    map[int32]int64
	s    []int16
}

func TestBytes(t *testing.T) {
	const size = 8 + 16 + 8 + 24 // of a node
	ring := &node{text: "four", m: map[int32]int64{1: 2, 3: 4}, s: make([]int16, 2, 5)}
	ring.next = &node{next: ring, s: ring.s}
	if got, want := Bytes(ring), uint64(2*size+4+2*(4+8)+5*2); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	if got := Bytes(ring, ring.next) - Bytes(ring); got != 0 {
		t.Errorf("%d bytes count twice", got)
	}
	if got := Bytes(any(nil), (*node)(nil), []int(nil), map[int]int(nil), func() {}, [2]string{"a", "b"}); got != 2 {
		t.Errorf("%d bytes of empty values", got)
	}
}
