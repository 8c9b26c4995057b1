package tasknode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/task/sealed"
	"github.com/hammr/hammr/shuffle"
)

// record is the format of the record beside the directory of an attempt: the attempt's final
// report, if its files are retained. From the records a restarted daemon learns which files it
// retains. docs/formats/retained.md has the details.
var record = sealed.Format{Name: "record of an attempt", Magic: "HAMMRRET", Version: 1, Max: maxRecord}

const (
	maxRecord    = 64 << 20    // bytes
	recordSuffix = ".retained" // follows the attempt's id
)

// errBadRecord marks a record as unusable, or the files that it names.
var errBadRecord = errors.New("tasknode: unusable record of an attempt")

// hasRetainedFiles reports whether the local files of an attempt are needed after its final
// report. Segments and checkpoints are needed; the merged files of a reduce are not.
//
// The pieces of a reduce are on the job's file system and not on the local disk.
func hasRetainedFiles(last *wire.Report) bool {
	return last.GetCheckpointed() != nil || len(segmentsOf(last)) > 0
}

// segmentsOf returns the outputs that are in the attempt's directory.
func segmentsOf(last *wire.Report) (here []*taskproc.MapOutput) {
	for _, o := range last.GetFinished().GetOutputs() {
		if !o.Stored {
			here = append(here, o)
		}
	}
	return here
}

// writeRecord writes the record of an attempt whose files are in dir. It renames a temporary file, so that a
// record is complete or absent if the tasknode dies. It does not sync the record, since the files that it names
// are not synced either: after a loss of power what is damaged is found, and the attempt runs again.
func writeRecord(dir string, last *wire.Report) error {
	encoded, err := record.Encode(last)
	if err != nil {
		return err
	}
	path := dir + recordSuffix
	if err := failpoint.Disk(context.Background(), "write", path); err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", encoded, 0o600); err != nil {
		return errors.Join(err, os.RemoveAll(path+".tmp"))
	}
	return os.Rename(path+".tmp", path)
}

// decodeRecord verifies and decodes a record. If the record is invalid, the error wraps
// errBadRecord.
func decodeRecord(b []byte) (*wire.Report, error) {
	last := new(wire.Report)
	if err := record.Decode(b, last); err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRecord, err)
	}
	return last, nil
}

// readRecord reads the record at path.
func readRecord(path string) (*wire.Report, error) {
	b, err := readBounded(path, maxRecord)
	if err != nil {
		return nil, err
	}
	return decodeRecord(b)
}

// checkPlaces returns an error if a final report names local files that do not lie in the
// attempt's directory. The daemon reads and serves what a report names.
func checkPlaces(dir string, last *wire.Report) error {
	var paths []string
	if p := last.GetCheckpointed(); p != nil {
		paths = append(paths, p.Checkpoint.GetPath())
	}
	for _, o := range segmentsOf(last) {
		paths = append(paths, o.Path)
	}
	for _, path := range paths {
		if rel, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("the task reports a file %q that does not lie in its local directory %s", path, dir)
		}
	}
	return nil
}

// checkRecord returns why the files that a record names are not as the attempt left them in
// its directory. It returns nil if they are. It does not read the content of segments,
// because readers verify it.
func checkRecord(dir string, last *wire.Report) error {
	if last.AttemptId != filepath.Base(dir) || !hasRetainedFiles(last) {
		return fmt.Errorf("%w: record of %q at %s", errBadRecord, last.AttemptId, dir)
	}
	if p := last.GetCheckpointed(); p != nil {
		return checkSize(dir, p.Checkpoint.GetPath(), p.Checkpoint.GetBytes())
	}
	for _, o := range segmentsOf(last) {
		if err := checkSegments(dir, o); err != nil {
			return err
		}
	}
	return nil
}

// checkSegments returns why the segments of an output are not as the attempt reported, nil
// if they are. The index must have the reported checksum, and the data file must have the
// length that the index says.
func checkSegments(dir string, o *taskproc.MapOutput) error {
	if err := checkInside(dir, o.Path); err != nil { // before anything is opened: the task chose the path
		return err
	}
	b, err := readBounded(shuffle.IndexPath(o.Path), maxIndex)
	if err != nil {
		return err
	}
	index, err := shuffle.DecodeIndex(b)
	if err != nil {
		return fmt.Errorf("%w: index of %s: %w", errBadRecord, o.Path, err)
	}
	if index.Checksum != o.IndexChecksum {
		return fmt.Errorf("%w: index of %s has checksum %x, was %x", errBadRecord, o.Path, index.Checksum, o.IndexChecksum)
	}
	return checkSize(dir, o.Path, index.DataLength)
}

// maxIndex limits the size of index files that are read, in bytes.
const maxIndex = 1 << 30

// checkInside returns an error if a path is not that of an entry directly in dir.
func checkInside(dir, path string) error {
	if filepath.Dir(path) != dir || filepath.Base(path) == ".." {
		return fmt.Errorf("%w: %q does not lie in %s", errBadRecord, path, dir)
	}
	return nil
}

// checkSize returns an error if a file is not a regular file of that size directly in dir.
// It refuses links, because a record must not make the daemon serve or remove files
// elsewhere.
func checkSize(dir, path string, size int64) error {
	if err := checkInside(dir, path); err != nil {
		return err
	}
	switch info, err := os.Lstat(path); {
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() != size:
		return fmt.Errorf("%w: %s has %d bytes, had %d", errBadRecord, path, info.Size(), size)
	}
	return nil
}
