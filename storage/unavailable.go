package storage

import "errors"

// Every error of a file system is of one of two classes:
//
//	not now   no server answers, is active, or has left safe mode; no DataNode takes a block
//	never     missing, exists, forbidden, corrupt, over a quota, a directory, a bad name, a full disk
//
// A caller that may wait repeats the call after an error of the first class. It returns an
// error of the second class at once. An FS marks errors of the first class with
// MarkUnavailable, because only the FS knows the errors of its servers. Local files have no
// server, so their errors are of the second class.

// ErrUnavailable marks the errors that mean "not now".
var ErrUnavailable = errors.New("storage: the file system is not available")

// Unavailable reports whether a later repetition of the call may succeed, because err means
// "not now". It is false for nil.
func Unavailable(err error) bool { return errors.Is(err, ErrUnavailable) }

// MarkUnavailable marks err with ErrUnavailable and keeps its text.
func MarkUnavailable(err error) error { return unavailableError{err} }

type unavailableError struct{ error }

func (e unavailableError) Unwrap() error   { return e.error }
func (unavailableError) Is(err error) bool { return err == ErrUnavailable }
