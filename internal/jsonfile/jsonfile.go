// Package jsonfile reads and writes small JSON documents that several processes share, such
// as the layout of a local cluster. A reader sees the whole document or none.
package jsonfile

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
)

// Read parses a file. The error names the file, and wraps fs.ErrNotExist if the file does
// not exist. Fields that the document lacks keep their values.
func Read(path string, into any) error {
	data, err := os.ReadFile(path)
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
