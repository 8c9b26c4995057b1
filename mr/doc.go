// Package mr is the interface for MapReduce programs that run on Hammr.
//
// A program is a Job made of an input, a mapper, a reducer and an output, typed
// from end to end; Main turns it into a whole command:
//
//	var wordcount = mr.New("wordcount",
//		mr.TextLines(),
//		mr.MapFunc(func(t *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
//			for w := range mr.Words(line) {
//				out.Emit(w, 1)
//			}
//			return nil
//		}),
//		mr.Sum[[]byte, int64](),
//		mr.TextOutput[[]byte, int64](),
//	).Combine(mr.Sum[[]byte, int64]())
//
//	func main() { mr.Main(wordcount) }
//
// A job of another shape is a Graph of stages, made by Define. See docs/dag.md.
//
// # Order
//
// Keys are encoded so that the order of bytes is the order of values (package
// internal/data/keys, docs/formats/keys.md); the engine compares bytes only. A
// reducer gets its keys in that order, and the values of a key in the order
// (input file, place in the file, order of Emit), whatever the number of
// splits, spills or retries. Output is the same bytes each time, for programs
// that are deterministic and whose combiner is associative. Sums of floats are
// not associative: how they are rounded depends on where splits and spills
// fall.
//
// # Who owns a byte slice
//
// A []byte that a mapper or reducer gets is valid until the call returns. A
// value of a group is valid until the next value is taken. Code that keeps
// bytes for longer copies them. Emit copies its arguments before it returns.
// Strings stay valid, so code may keep them without a copy.
//
// # Instances
//
// Each attempt of a task works with a copy of its own of the mapper and the
// reducer: where they are pointers to structs, the struct is copied. Fields
// set before the job starts are seen by all; Setup is the place to make maps
// and buffers.
package mr
