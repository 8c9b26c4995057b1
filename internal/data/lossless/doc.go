// Package lossless finds what encoding/json and encoding/gob would change without an error: a
// field that they drop, a string that they replace, a number that gets another type.
//
// It looks in two steps. A type is examined once (JSONOf, CheckGobType), and refused if its
// values change whatever they are. What depends on the value is found when a value is encoded
// (JSONType.Check, CheckGob).
//
//	type ──> JSONOf ──────> refused when the job is built
//	value ─> Marshal ─> Check ─> refused when the record is emitted
//
// What is accepted decodes to a value that is deeply equal, except what the user decides: types
// with methods of their own for the encoding, and fields that are left out by a tag. Pointers
// to one value become pointers to several values, and a negative zero may become a zero.
package lossless
