// Package hashtable is a read-only hash table of encoded records, made once and then shared by
// any number of goroutines. It is the build side of a hash join.
//
//	slots   ┌─────┬────────┬───┬────────┬────   open addressing, linear probing;
//	        │  0  │ tag at │ 0 │ tag at │ …     0: the slot is free
//	        └─────┴────┬───┴───┴────────┴────
//	                   ▼
//	arena   … │ key length │ key │ header │ value │ header │ value │ …
//
// The keys, each with all its values, lie one after another in the arena, as encoded. A slot
// has 40 bits for the place of a key in the arena, and 24 bits of its hash, so that few slots
// of other keys cost a comparison of keys. A table holds no pointers, so the garbage
// collector does not scan it.
//
// The caller adds the records to a Builder in groups: each key once, with all its values. Find
// returns the values in the order in which they were added. Values are views of the arena,
// which is never changed. They may be kept, and keep all of the arena in memory.
package hashtable
