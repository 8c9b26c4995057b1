package fsshell

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hammr/hammr/storage"
)

// pathError is a failure in Hadoop's words: "`path': message". Hadoop opens the quotation with
// a grave accent and closes it with an apostrophe.
type pathError struct {
	path    string // "" if the message has everything
	target  string // the other path of two, or ""
	message string
	cause   error // nil, or what errors.Is finds
}

func (e *pathError) Unwrap() error { return e.cause }

// Error returns one line, which scripts search for: the words are Hadoop's.
func (e *pathError) Error() string {
	switch {
	case e.path == "":
		return e.message
	case e.target != "":
		return fmt.Sprintf("`%s' to `%s': %s", e.path, e.target, e.message)
	}
	return fmt.Sprintf("`%s': %s", e.path, e.message)
}

func notFound(name string) error {
	return &pathError{path: name, message: "No such file or directory", cause: fs.ErrNotExist}
}
func isDirectory(name string) error {
	return &pathError{path: name, message: "Is a directory"}
}
func isNotDirectory(name string) error {
	return &pathError{path: name, message: "Is not a directory"}
}
func fileExists(name string) error { return &pathError{path: name, message: "File exists"} }

// noParent returns the error for a file without a parent directory. Hadoop adds the full name, with
// an empty authority unless the name was relative. Scripts compare the whole line, so it does
// here too.
func noParent(it item) error {
	full := storage.Name(it.fs, it.path)
	if strings.HasPrefix(it.name, "/") {
		full = it.fs.URI() + it.path
	}
	return &pathError{path: it.name, message: fmt.Sprintf("No such file or directory: `%s'", full)}
}

// toPathError turns an error of a file system into Hadoop's words, if Hadoop has words for it.
// Others are printed as they are: they name the path and the cause.
func toPathError(it item, err error) error {
	var known *pathError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, fs.ErrNotExist):
		return notFound(it.name)
	case errors.Is(err, fs.ErrPermission):
		return &pathError{path: it.name, message: "Permission denied: " + err.Error()}
	}
	return err
}
