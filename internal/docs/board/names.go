package board

// names gives numbers to names of machines and of beneficiaries of preemptions. A name has its number as long as a job on the board
// uses it. So a cluster whose machines come and go for years has a bounded table.
type names struct {
	texts   []string          // by number; the first is "", which is always there
	numbers map[string]uint32 // of names that are used
	jobs    []int32           // by number: jobs that use it
	unused  []uint32          // numbers without a name
	shared  bool              // a snapshot has texts
}

func newNames() names {
	return names{texts: []string{""}, numbers: map[string]uint32{"": 0}, jobs: []int32{1}}
}

// intern returns the number of a name that a row of a job gets.
func (n *names) intern(j *job, name string) uint32 {
	number, known := n.numbers[name]
	if !known {
		number = n.add(name)
	}
	if number != 0 && j.named.add(number) {
		n.jobs[number]++
	}
	return number
}

// add gives a number to a name. A snapshot that has the texts has rows that use the old name of the
// number, so the texts are copied.
func (n *names) add(name string) (number uint32) {
	if last := len(n.unused) - 1; last >= 0 {
		number, n.unused = n.unused[last], n.unused[:last]
		if n.shared {
			n.texts, n.shared = append([]string(nil), n.texts...), false
		}
		n.texts[number] = name
	} else {
		number = uint32(len(n.texts))
		n.texts, n.jobs = append(n.texts, name), append(n.jobs, 0)
	}
	n.numbers[name] = number
	return number
}

// release drops the names that only this job used. The job has no rows any more.
func (n *names) release(j *job) {
	for number := range uint32(len(j.named) * 64) {
		if !j.named.has(number) {
			continue
		}
		if n.jobs[number]--; n.jobs[number] == 0 {
			delete(n.numbers, n.texts[number])
			n.unused = append(n.unused, number)
		}
	}
	j.named = nil
}

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) has(n uint32) bool { return int(n/64) < len(b) && b[n/64]&(1<<(n%64)) != 0 }

// add adds a number and reports whether it is new.
func (b *bitset) add(n uint32) bool {
	if b.has(n) {
		return false
	}
	for int(n/64) >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[n/64] |= 1 << (n % 64)
	return true
}
