// Package jsonfile reads and writes small JSON documents that several processes share, such
// as the layout of a local cluster. A reader sees the whole document or none.
package jsonfile

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"

	"github.com/hammr/hammr/internal/kit/owndir"
)

// Read parses a file. The error names the file, and wraps fs.ErrNotExist if the file does
// not exist. Fields that the document lacks keep their values.
func Read(path string, into any) error {
	data, err := os.ReadFile(path)
	return parse(path, data, err, into)
}

// ReadOwn is Read for a document that names programs or processes: it refuses a file that another
// user than this one and root can change.
func ReadOwn(path string, into any) error {
	data, err := owndir.ReadFile(path)
	return parse(path, data, err, into)
}

// parse parses the content of a file, unless reading it has failed.
func parse(path string, data []byte, err error, into any) error {
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Write writes an indented document to a temporary file beside the file and renames it. A
// crash of the machine may lose the latest document, since Write does not sync.
func Write(path string, value any, mode fs.FileMode) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
