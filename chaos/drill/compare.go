package drill

import (
	"context"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/testcluster"
)

// fetchOutput reads output from this machine or from another file system. The local copy is
// removed after it is read.
func (s *Session) fetchOutput(ctx context.Context, at dataPlace, out string) (testcluster.Output, error) {
	if !at.remote() {
		return testcluster.ReadOutput(out)
	}
	local, err := os.MkdirTemp(s.dir, "got-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(local)
	got := filepath.Join(local, "out")
	if _, err := s.command(ctx, nil, "fs", "-get", out, got); err != nil {
		return nil, err
	}
	return testcluster.ReadOutput(got)
}
