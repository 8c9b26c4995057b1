package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/storage"
	"golang.org/x/sync/errgroup"
)

// SuccessName is the empty file that tells that an output is complete.
const SuccessName = "_SUCCESS"

// joinParallelism is how many files of an output are joined at once.
const joinParallelism = 16

// jobWork is work for one job, with what it needs to know, so that it can go on
// beside the loop.
type jobWork struct {
	m     *Master
	lead  *lead
	job   cluster.JobID
	spec  *wire.JobSpec
	setUp bool        // the output directory is the job's own
	files []finalFile // of commit

	// countersErr refuses the commit of a job with too many counters.
	countersErr error
}

// do does the work and reports how it ended.
func (w *jobWork) do(ctx context.Context, kind control.WorkKind) {
	r := &workResult{lead: w.lead, job: w.job, kind: kind}
	switch kind {
	case control.WorkSetUp:
		w.setUpJob(ctx, r)
		return
	case control.WorkCommit:
		if r.err = w.countersErr; r.err == nil {
			r.err = w.commit(ctx)
		}
		if r.err == nil {
			w.removeStaged(ctx)
		}
	case control.WorkCleanUp:
		r.err = w.removeOutput(ctx)
		w.removeStaged(ctx)
	}
	w.m.inbox.Put(r)
}

// removeStaged removes what the client staged for this job alone: nothing runs
// any more that would read it. It lies in a directory of its own; one that holds
// more stays.
func (w *jobWork) removeStaged(ctx context.Context) {
	fsys, splits, err := w.m.cfg.Resolve(ctx, w.spec.SplitsPath)
	if err == nil {
		err = fsys.Remove(ctx, splits, false)
	}
	if err != nil {
		w.m.cfg.Logger.Warn("staged splits stay", "job", w.job, "file", w.spec.SplitsPath, "error", err)
		return
	}
	_ = fsys.Remove(ctx, path.Dir(splits), false)
}

// output resolves the job's output directory; fsys is nil when it has none.
func (w *jobWork) output(ctx context.Context) (fsys storage.FS, dir string, err error) {
	if w.spec.OutputDir == "" {
		return nil, "", nil
	}
	return w.m.cfg.Resolve(ctx, w.spec.OutputDir)
}

// ownDir is the directory for pieces. That it is there shows that the output
// directory is this job's.
func (w *jobWork) ownDir(dir string) string { return path.Join(dir, temporaryName, w.job.String()) }

// makeOutput makes the output directory, which may not exist, unless this job
// has made it before.
func (w *jobWork) makeOutput(ctx context.Context) error {
	fsys, dir, err := w.output(ctx)
	if fsys == nil || err != nil {
		return err
	}
	if _, err := fsys.Stat(ctx, w.ownDir(dir)); err == nil {
		return nil
	}
	if err := storage.CheckOutput(ctx, fsys, dir, w.spec.OutputDir); err != nil {
		return err
	}
	if err := fsys.MkdirAll(ctx, w.ownDir(dir)); err != nil {
		return fmt.Errorf("output directory: %w", err)
	}
	return nil
}

// removeOutput removes the output directory if it is this job's.
func (w *jobWork) removeOutput(ctx context.Context) error {
	fsys, dir, err := w.output(ctx)
	if fsys == nil || err != nil {
		return err
	}
	if !w.setUp {
		if _, err := fsys.Stat(ctx, w.ownDir(dir)); err != nil {
			return nil // it is somebody else's, or not there
		}
	}
	return fsys.Remove(ctx, dir, true)
}

// finalFile is a file of the output and the pieces it is joined from.
type finalFile struct {
	name   string // relative to the output directory
	pieces []cluster.Piece
}

// kindLetter is what stands for a stage in the names of files: "m" for one that reads
// input, "r" for others, as in Hadoop.
func kindLetter(j *cluster.Job, stage int) string {
	if stages := j.Spec.Graph.Stages; stage >= 0 && stage < len(stages) && j.Spec.Graph.IsSource(j.Spec.Graph.Stages[stage].Name) {
		return "m"
	}
	return "r"
}

// finalFiles are the files of a job's output, in the order of their names'
// tasks. Stages that others read may write some of them, too. Tasks cut from one
// task wrote parts of one file, in the order of their ranges.
func finalFiles(j *cluster.Job) []finalFile {
	var files []finalFile
	index := make(map[string]int)
	for _, stage := range j.Stages {
		if !stage.RequiredForCommit() {
			continue
		}
		tasks := slices.Clone(stage.Tasks)
		slices.SortStableFunc(tasks, func(a, b *cluster.Task) int {
			if a.Part != b.Part {
				return a.Part - b.Part
			}
			return a.Range.Start.Compare(b.Range.Start)
		})
		for _, t := range tasks {
			for _, p := range t.Output.Pieces {
				name := fmt.Sprintf("%s-%s-%05d%s", p.Output, kindLetter(j, p.Stage), p.Part, p.Suffix)
				i, known := index[name]
				if !known {
					i = len(files)
					index[name] = i
					files = append(files, finalFile{name: name})
				}
				files[i].pieces = append(files[i].pieces, p)
			}
		}
	}
	return files
}

// commit gives the output its final names. It may be stopped anywhere and begun
// again, here or by another master.
func (w *jobWork) commit(ctx context.Context) error {
	fsys, dir, err := w.output(ctx)
	if fsys == nil || err != nil {
		return err
	}
	if err := failpoint.Hit(failpoint.MasterCommitBegin); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(joinParallelism)
	for _, f := range w.files {
		group.Go(func() error { return w.join(groupCtx, fsys, dir, f) })
	}
	err = group.Wait()
	if err == nil {
		err = failpoint.Hit(failpoint.MasterCommitEnd)
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := fsys.Remove(ctx, path.Join(dir, temporaryName), true); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if !marksSuccess(w.spec.Properties) {
		return nil
	}
	return markSuccess(ctx, fsys, dir)
}

// markSuccess tells that an output is complete. One that is gone stays so: a master
// that stood still in its commit may find that another one has ended the job and
// removed what it wrote.
func markSuccess(ctx context.Context, fsys storage.FS, dir string) error {
	if _, err := fsys.Stat(ctx, dir); err != nil {
		return fmt.Errorf("commit: output directory: %w", err)
	}
	return createEmpty(ctx, fsys, path.Join(dir, SuccessName))
}

func (w *jobWork) join(ctx context.Context, fsys storage.FS, dir string, f finalFile) error {
	if err := failpoint.Hit(failpoint.MasterCommitFile); err != nil {
		return err
	}
	pieces := make([]storage.Piece, len(f.pieces))
	for i, p := range f.pieces {
		_, name, err := w.m.cfg.Resolve(ctx, p.Path)
		if err != nil {
			return err
		}
		pieces[i] = storage.Piece{Path: name, Length: p.Length}
	}
	return storage.Join(ctx, fsys, path.Join(dir, f.name), pieces, w.job.String())
}

// createEmpty makes an empty file; one that exists is as good.
func createEmpty(ctx context.Context, fsys storage.FS, name string) error {
	out, err := fsys.Create(ctx, name, storage.CreateOptions{})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		if err = out.Close(); err != nil {
			err = errors.Join(err, out.Abort())
		}
	}
	if err != nil {
		return fmt.Errorf("commit: %s: %w", name, err)
	}
	return nil
}
