package splits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/storage"
)

// ErrChanged marks an input file that is not the one for which the job was submitted.
var ErrChanged = errors.New("the file has changed since the job was submitted")

// submittedFS opens the file of a part only if it is the file for which the job was submitted: with
// other bytes in some of its splits, the job would read a mixture. A file that has grown since is
// read up to its length at that time.
type submittedFS struct {
	storage.FS
	part *taskproc.Split_Part
}

// Open implements storage.FS. It looks at the file after it has opened it, so a file that
// replaces it in between is not read unnoticed.
func (s *submittedFS) Open(ctx context.Context, path string) (storage.File, error) {
	f, err := s.FS.Open(ctx, path)
	if err != nil || s.part.Modified == 0 {
		return f, err
	}
	info, err := s.FS.Stat(ctx, path)
	if err == nil {
		err = checkSubmitted(s.part, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// checkSubmitted returns what is wrong with a file, compared with its part.
func checkSubmitted(p *taskproc.Split_Part, now storage.FileInfo) error {
	modified := time.Unix(0, p.Modified)
	switch {
	case now.Size < p.FileSize:
		return fmt.Errorf("%w: it had %d bytes and has %d; %s", ErrChanged, p.FileSize, now.Size, remedy)
	case p.Inode != 0 && p.Machine == now.Machine && now.Inode != p.Inode:
		return fmt.Errorf("%w: another file has its name; %s", ErrChanged, remedy)
	case now.Size == p.FileSize && !now.ModTime.Equal(modified):
		return fmt.Errorf("%w: it was modified at %s and now at %s; %s",
			ErrChanged, modified.UTC().Format(time.RFC3339Nano), now.ModTime.UTC().Format(time.RFC3339Nano), remedy)
	}
	return nil
}

// remedy is the end of these errors.
const remedy = "submit the job again, and write its input only before, or append to it"
