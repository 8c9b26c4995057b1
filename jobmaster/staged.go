package jobmaster

import (
	"context"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
)

// A submission names two files in the staging directory. The masters read and remove its
// splits, and tasknodes run its program, with rights that the client may not have. So only the
// places where clients stage these files are accepted:
//
//	STAGING/artifacts/SHA256              the program, named by its hash
//	STAGING/jobs/CLIENT-SEQUENCE/splits   splits of this submission

// checkStaged refuses files in other places. Without a staging directory, the clients are in
// the master's own process.
func (m *Master) checkStaged(ctx context.Context, spec *wire.JobSpec) error {
	if m.cfg.StagingDir == "" {
		return nil
	}
	if strings.ContainsAny(spec.ClientId, "/\x00") || len(spec.ClientId) > 200 || strings.HasPrefix(spec.ClientId, ".") {
		return fmt.Errorf("jobmaster: client id %.80q: use at most 200 bytes without '/', and no dot first", spec.ClientId)
	}
	if err := m.checkStagedAt(ctx, "splits", spec.SplitsPath, stagedSplits(spec)); err != nil {
		return err
	}
	if spec.Binary == "" {
		return nil // tasks run in the process of their tasknode
	}
	if len(spec.BinarySha256) != 32 {
		return fmt.Errorf("jobmaster: program with a SHA-256 of %d bytes", len(spec.BinarySha256))
	}
	return m.checkStagedAt(ctx, "program", spec.Binary, path.Join("artifacts", hex.EncodeToString(spec.BinarySha256)))
}

// stagedSplits returns the place of a submission's splits in the staging directory.
func stagedSplits(spec *wire.JobSpec) string {
	return path.Join("jobs", fmt.Sprintf("%s-%d", spec.ClientId, spec.Sequence), "splits")
}

// checkStagedAt refuses a name that is not that of a file in the staging directory. Clients
// write the name of the directory as their file system does, so two forms are accepted.
func (m *Master) checkStagedAt(ctx context.Context, what, name, relative string) error {
	if name == joinName(m.cfg.StagingDir, relative) {
		return nil
	}
	fsys, dir, err := m.cfg.Resolve(ctx, m.cfg.StagingDir)
	if err != nil {
		return fmt.Errorf("staging directory: %w", err)
	}
	if want := storage.Name(fsys, path.Join(dir, relative)); name != want {
		return fmt.Errorf("jobmaster: %s of the job in %.200q: clients stage them as %s", what, name, want)
	}
	return nil
}

// Bounds of one split. Their number is bounded by the job's graph.
const (
	maxSplitHosts = 1000
	maxHostBytes  = 255
	maxPathBytes  = 4096
)

// checkSplits reports the first split that the state could not handle.
func checkSplits(splits []*taskproc.Split) error {
	for i, s := range splits {
		if err := checkSplit(s); err != nil {
			return fmt.Errorf("split %d: %w", i, err)
		}
	}
	return nil
}

func checkSplit(s *taskproc.Split) error {
	if len(s.Hosts) > maxSplitHosts {
		return fmt.Errorf("%d hosts; at most %d are allowed", len(s.Hosts), maxSplitHosts)
	}
	for _, host := range s.Hosts {
		if len(host) > maxHostBytes {
			return fmt.Errorf("host %.80q… of %d bytes; at most %d are allowed", host, len(host), maxHostBytes)
		}
	}
	var end int64
	for i, p := range s.Parts {
		if i == 0 {
			end = p.Start
		}
		end += p.Length
		if p.Start < 0 || p.Length < 0 || p.FileSize < 0 || p.Ordinal < 0 || p.Start+p.Length < 0 || end < 0 {
			return fmt.Errorf("part %d begins at %d and has %d bytes of %d, in file %d; numbers that are negative or too large", i, p.Start, p.Length, p.FileSize, p.Ordinal)
		}
		if len(p.Path) > maxPathBytes {
			return fmt.Errorf("part %d: a name of %d bytes; at most %d are allowed", i, len(p.Path), maxPathBytes)
		}
	}
	return nil
}
