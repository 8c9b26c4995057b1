package board

// chunkRows is the number of rows of a full chunk.
const chunkRows = 1024

// minChunkRows is the capacity of the first chunk of a table. Most jobs are small.
const minChunkRows = 8

// table is an array of rows, in chunks. freeze returns a copy that shares all chunks. A chunk
// that a copy shares is copied before a row of it changes, so a frozen table never changes.
type table[T any] struct {
	rows[T]
	shared []bool // by chunk: a frozen table has it
}

// rows is read access to a table.
type rows[T any] struct {
	chunks  [][]T
	size    int // rows, without the dropped ones
	dropped int // rows that were dropped from the front: whole chunks
}

// at returns a row. Rows are numbered from the first that was ever added.
func (r *rows[T]) at(i int) *T {
	i -= r.dropped
	return &r.chunks[i/chunkRows][i%chunkRows]
}

// end returns the number after that of the last row.
func (r *rows[T]) end() int { return r.dropped + r.size }

// edit returns a row to be changed.
func (t *table[T]) edit(i int) *T {
	c := (i - t.dropped) / chunkRows
	if t.shared[c] {
		copied := make([]T, len(t.chunks[c]), cap(t.chunks[c]))
		copy(copied, t.chunks[c])
		t.chunks[c], t.shared[c] = copied, false
	}
	return t.at(i)
}

// add appends a row and returns its number.
//
// A row that is appended to a shared chunk is beyond the end of the chunk in frozen tables, so
// nothing is copied for it. at and edit of a later change see the chunk as the table has it.
func (t *table[T]) add(row T) int {
	last := len(t.chunks) - 1
	if last < 0 || len(t.chunks[last]) == chunkRows {
		capacity := chunkRows
		if last < 0 && t.dropped == 0 {
			capacity = minChunkRows
		}
		t.chunks, t.shared = append(t.chunks, make([]T, 0, capacity)), append(t.shared, false)
		last++
	}
	c := t.chunks[last]
	if len(c) == cap(c) {
		grown := make([]T, len(c), min(2*len(c), chunkRows))
		copy(grown, c)
		c, t.shared[last] = grown, false
	}
	t.chunks[last] = append(c, row)
	t.size++
	return t.end() - 1
}

// dropFirst drops the first chunk.
func (t *table[T]) dropFirst() {
	n := len(t.chunks[0])
	t.chunks, t.shared = t.chunks[1:], t.shared[1:]
	t.dropped, t.size = t.dropped+n, t.size-n
}

// freeze returns the rows as they are now.
func (t *table[T]) freeze() rows[T] {
	for i := range t.shared {
		t.shared[i] = true
	}
	frozen := t.rows
	frozen.chunks = append([][]T(nil), t.chunks...)
	return frozen
}
