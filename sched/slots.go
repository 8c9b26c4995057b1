package sched

// Slots counts slots by kind (cluster.Slot).
type Slots [2]int

// Plus is the sum.
func (s Slots) Plus(t Slots) Slots { return Slots{s[0] + t[0], s[1] + t[1]} }

// Minus is the difference; it may be negative.
func (s Slots) Minus(t Slots) Slots { return Slots{s[0] - t[0], s[1] - t[1]} }

// Times is n times as many.
func (s Slots) Times(n int) Slots { return Slots{s[0] * n, s[1] * n} }

// AtMost is s, but of no kind more than t.
func (s Slots) AtMost(t Slots) Slots { return Slots{min(s[0], t[0]), min(s[1], t[1])} }

// Sum is all of them.
func (s Slots) Sum() int { return s[0] + s[1] }
