package hdfs

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/hammr/hammr/storage"
)

// errRefused marks operations that this package does not support. They are never retried.
var errRefused = errors.New("refused")

// Flags of a file's status, as in hdfs.proto. The type itself is internal to the module, so
// directories are recognized by its number.
const (
	typeDirectory = 1
	flagEncrypted = 0x02
)

func describe(name string, s *hdfs.FileStatus) storage.FileInfo {
	return storage.FileInfo{
		Path:        name,
		Size:        int64(s.GetLength()),
		IsDir:       isDir(s),
		ModTime:     time.UnixMilli(int64(s.GetModificationTime())),
		Mode:        fs.FileMode(s.GetPermission().GetPerm()).Perm(),
		Owner:       s.GetOwner(),
		Group:       s.GetGroup(),
		Replication: int(s.GetBlockReplication()),
		BlockSize:   int64(s.GetBlocksize()),
	}
}

func isDir(s *hdfs.FileStatus) bool { return int32(s.GetFileType()) == typeDirectory }

// refuse returns an error if the module cannot handle the bytes of a file: it would return
// cipher text, or fail for erasure-coded blocks.
func refuse(s *hdfs.FileStatus) error {
	if s.GetEcPolicy() != nil {
		return fmt.Errorf("%w: the file is erasure-coded (%s), which this client cannot read or write; copy it to a directory with hdfs ec -setPolicy -replicate",
			errRefused, s.GetEcPolicy().GetName())
	}
	if s.GetFileEncryptionInfo() != nil || s.GetFlags()&flagEncrypted != 0 {
		return fmt.Errorf("%w: the file is in an encryption zone, which this client cannot read or write; copy it out of the zone", errRefused)
	}
	return nil
}
