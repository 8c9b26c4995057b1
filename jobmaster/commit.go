package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/storage"
	"golang.org/x/sync/errgroup"
)

// The directory of a job's output has these files before and after the commit:
//
//	OUT/_temporary/JOB/…          pieces: closed files, each written by one attempt
//	OUT/part-r-00000, …           pieces, joined and renamed in the order of their tasks
//	OUT/_SUCCESS                  written last
//
// The commit may stop at any step, since a master may be lost. The next leader repeats it.
// So each step first checks whether it was already done. A file that has its final name and
// length is not joined again. _temporary is removed after the last file, and _SUCCESS is
// written after that. Readers that wait for _SUCCESS never see an incomplete output.

// SuccessName is the empty file that marks a complete output.
const SuccessName = "_SUCCESS"

// joinParallelism is how many files of an output are joined at once.
const joinParallelism = 16

// jobWork is work for one job outside the loop, with the data that it needs.
type jobWork struct {
	m     *Master
	lead  *lead
	job   cluster.JobID
	spec  *wire.JobSpec
	setUp bool        // the output directory belongs to this job
	files []finalFile // files to commit
	conf  *conf.Conf  // the job's properties, for the commit

	// countersErr, if not nil, makes the commit fail: the job has too many counters.
	countersErr error
}

// do does the work and reports the result to the loop.
func (w *jobWork) do(ctx context.Context, kind control.WorkKind) {
	r := &workResult{job: w.job, kind: kind}
	defer func() {
		if v := recover(); v != nil {
			w.m.logPanic("panic in the work of a job", v, "job", w.job)
			r.err = errPanic
			w.report(r)
		}
	}()
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
	w.report(r)
}

// report passes a result to the loop.
func (w *jobWork) report(r *workResult) { w.m.postUnder(w.lead, func() { w.m.workEnded(r) }) }

// removeStaged removes the splits that the client staged for this job, because no task reads
// them any more. It also removes their directory, unless the directory contains other files.
func (w *jobWork) removeStaged(ctx context.Context) {
	fsys, splits, err := w.m.cfg.Resolve(ctx, w.spec.SplitsPath)
	if err == nil {
		err = fsys.Remove(ctx, splits, false)
	}
	if err != nil {
		w.m.cfg.Logger.Warn("cannot remove staged splits", "job", w.job, "file", w.spec.SplitsPath, "error", err)
		return
	}
	_ = fsys.Remove(ctx, path.Dir(splits), false)
}

// output resolves the job's output directory; fsys is nil if it has none.
func (w *jobWork) output(ctx context.Context) (fsys storage.FS, dir string, err error) {
	if w.spec.OutputDir == "" {
		return nil, "", nil
	}
	return w.m.cfg.Resolve(ctx, w.spec.OutputDir)
}

// ownDir returns the directory for pieces. If it exists, the output directory belongs to
// this job.
func (w *jobWork) ownDir(dir string) string { return path.Join(dir, temporaryName, w.job.String()) }

// makeOutput makes the output directory. The directory must not exist, unless this job has
// made it before.
//
// Only _temporary/JOB shows to which job the directory belongs. If two jobs are submitted
// with the same output, both check this in turn, and the second job fails.
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

// removeOutput removes the output directory if it belongs to this job.
//
// If a job was set up, the directory is its own, even if _temporary does not exist: a commit
// that failed late has already removed _temporary.
func (w *jobWork) removeOutput(ctx context.Context) error {
	fsys, dir, err := w.output(ctx)
	if fsys == nil || err != nil {
		return err
	}
	if !w.setUp {
		if _, err := fsys.Stat(ctx, w.ownDir(dir)); err != nil {
			return nil // the directory belongs to another job, or does not exist
		}
	}
	return fsys.Remove(ctx, dir, true)
}

// finalFile is a file of the output and the pieces that are joined into it.
type finalFile struct {
	name   string // relative to the output directory
	pieces []cluster.Piece
}

// kindLetter returns the letter of a stage in file names, as in Hadoop: "m" for a stage that
// reads input, "r" for all others.
func kindLetter(j *cluster.Job, stage int) string {
	if stages := j.Spec.Graph.Stages; stage >= 0 && stage < len(stages) && j.Spec.Graph.IsSource(j.Spec.Graph.Stages[stage].Name) {
		return "m"
	}
	return "r"
}

// finalFiles returns the files of a job's output in the order of their tasks. Stages that
// have readers may write output too. Tasks that were split from one task wrote parts of one
// file; they are listed in the order of their ranges.
//
// It runs in the loop, because it reads the state. The commit runs outside the loop and gets
// the list.
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

// commit gives the files of the output their final names. It may stop at any step, and this
// or another master may repeat it.
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
	if !w.conf.Bool("mapreduce.fileoutputcommitter.marksuccessfuljobs") {
		return nil
	}
	return markSuccess(ctx, fsys, dir)
}

// markSuccess marks an output as complete. It does not create the output directory. If a
// master was suspended during its commit, another master may have ended the job and removed
// the output.
func markSuccess(ctx context.Context, fsys storage.FS, dir string) error {
	if _, err := fsys.Stat(ctx, dir); err != nil {
		return fmt.Errorf("commit: output directory: %w", err)
	}
	return createEmpty(ctx, fsys, path.Join(dir, SuccessName))
}

// join joins the pieces of one file under its final name. storage.Join repeats an
// interrupted join: the temporary file has the job's id in its name.
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

// createEmpty makes an empty file unless it exists.
func createEmpty(ctx context.Context, fsys storage.FS, name string) error {
	err := storage.WriteFile(ctx, fsys, name, func(io.Writer) error { return nil })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("commit: %s: %w", name, err)
	}
	return nil
}
