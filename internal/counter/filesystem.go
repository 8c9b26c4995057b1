package counter

import "strings"

// Hadoop's counters of a file system, in its order. They are printed behind the
// file system's scheme in capitals ("HDFS: Number of bytes read").
const (
	fsBytesRead     = "Number of bytes read"
	fsBytesWritten  = "Number of bytes written"
	fsReadOps       = "Number of read operations"
	fsLargeReadOps  = "Number of large read operations"
	fsWriteOps      = "Number of write operations"
	schemeSeparator = ": "
)

var fileSystemOrder = []string{fsBytesRead, fsBytesWritten, fsReadOps, fsLargeReadOps, fsWriteOps}

// FSBytesRead counts bytes read from the file system of a scheme ("file",
// "hdfs"; "" is "file").
func FSBytesRead(scheme string) ID { return fileSystem(scheme, fsBytesRead) }

// FSBytesWritten counts bytes written to the file system of a scheme.
func FSBytesWritten(scheme string) ID { return fileSystem(scheme, fsBytesWritten) }

// FSReadOps counts opened, listed and examined files.
func FSReadOps(scheme string) ID { return fileSystem(scheme, fsReadOps) }

// FSWriteOps counts created, renamed and removed files.
func FSWriteOps(scheme string) ID { return fileSystem(scheme, fsWriteOps) }

func fileSystem(scheme, name string) ID {
	return ID{GroupFileSystem, schemePrefix(scheme) + name}
}

func schemePrefix(scheme string) string {
	if scheme == "" {
		scheme = "file"
	}
	return strings.ToUpper(scheme) + schemeSeparator
}
