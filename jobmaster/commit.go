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
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
	"golang.org/x/sync/errgroup"
)

// The directory of a job's output has these files before and after the commit:
//
//	OUT/_temporary/JOB/…          pieces: closed files, each written by one attempt
//	OUT/part-r-00000, …           pieces, joined and renamed in the order of their tasks
//	OUT/_SUCCESS                  written after the last of these files
//
// The commit may stop at any step, since a master may be lost. The next leader repeats it.
// So each step first checks whether it was already done. A file that has its final name and
// length is not joined again. Readers that wait for _SUCCESS never see an incomplete output.
//
// A deposed leader may repeat a step late, when the job is over and another job writes to
// OUT. So each step moves a file out of _temporary/JOB, also _SUCCESS, or removes something
// in it. _temporary/JOB is removed last, and then these steps fail.

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
	setUp bool        // the job was set up: it has made its output directory
	files []finalFile // files to commit
	conf  *conf.Conf  // the job's properties

	// countersErr, if not nil, makes the commit fail: the job has too many counters.
	countersErr error
}

// do does the work and reports the result to the loop.
func (w *jobWork) do(ctx context.Context, kind control.WorkKind) {
	r := &workResult{job: w.job, kind: kind}
	defer func() {
		if v := recover(); v != nil {
			w.m.logPanic("panic in the work of a job", v, "job", w.job)
			w.report(&workResult{job: w.job, kind: kind, err: errPanic}) // the loop may have r already
		}
	}()
	switch kind {
	case control.WorkSetUp:
		w.setUpJob(ctx, r)
		return
	case control.WorkCommit:
		if r.err = w.countersErr; r.err == nil {
			r.err = w.untilAvailable(ctx, w.commit)
		}
		if r.err == nil {
			w.removeStaged(ctx)
		}
	case control.WorkCleanUp:
		r.err = w.untilAvailable(ctx, w.removeTemporary)
		w.removeStaged(ctx)
	}
	w.report(r)
}

// report passes a result to the loop.
func (w *jobWork) report(r *workResult) { w.m.postUnder(w.lead, func() { w.m.workEnded(r) }) }

// removeStaged removes the splits that the client staged for this job, because no task reads
// them any more. It also removes their directory, unless the directory contains other files.
func (w *jobWork) removeStaged(ctx context.Context) {
	err := w.m.checkStaged(ctx, w.spec) // a master of an earlier version may have accepted the job
	if err != nil {
		w.m.cfg.Logger.Warn("staged splits not removed", "job", w.job, "error", err)
		return
	}
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

// ownDir returns the directory for pieces. Only this job makes it and removes it. While it
// exists, the output directory belongs to this job.
func (w *jobWork) ownDir(dir string) string {
	return path.Join(dir, storage.TemporaryName, w.job.String())
}

// makeOutput makes the output directory. The directory must not exist, unless this job has
// made it before.
//
// The state refuses a second unfinished job with the same output directory. This check finds
// directories of earlier jobs, of other clusters and of other programs.
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

// removeTemporary removes what a job that has failed or was killed has made: its directory
// for pieces, and then _temporary and the output directory if they are empty. As in Hadoop,
// all other files in the output directory stay, also the job's own files of an incomplete
// commit.
//
// If the job was not set up and its directory for pieces does not exist, the output
// directory belongs to another program and is not touched.
func (w *jobWork) removeTemporary(ctx context.Context) error {
	fsys, dir, err := w.output(ctx)
	if fsys == nil || err != nil {
		return err
	}
	_, err = fsys.Stat(ctx, w.ownDir(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !w.setUp:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := w.removeOwnDir(ctx, fsys, dir); err != nil {
		return err
	}
	return removeIfEmpty(ctx, fsys, dir)
}

// removeOwnDir removes the directory for pieces, and _temporary unless it contains files of
// other jobs. The only recursive removal has a path with the job's id. So a deposed leader
// that calls this late removes nothing of another job.
func (w *jobWork) removeOwnDir(ctx context.Context, fsys storage.FS, dir string) error {
	if err := fsys.Remove(ctx, w.ownDir(dir), true); err != nil {
		return err
	}
	return removeIfEmpty(ctx, fsys, path.Join(dir, storage.TemporaryName))
}

// removeIfEmpty removes a directory unless it has entries or does not exist. The file system
// decides whether it is empty, so no file is lost that is created at this moment.
func removeIfEmpty(ctx context.Context, fsys storage.FS, dir string) error {
	err := fsys.Remove(ctx, dir, false)
	if err == nil {
		return nil
	}
	entries, listErr := fsys.List(ctx, dir)
	if errors.Is(listErr, fs.ErrNotExist) || listErr == nil && len(entries) > 0 {
		return nil
	}
	return err
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
	if err := w.finishOutput(ctx, fsys, dir); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// finishOutput marks the output as complete and removes what is left of the pieces: first the
// pieces of attempts that did not win, and after the mark the directories.
func (w *jobWork) finishOutput(ctx context.Context, fsys storage.FS, dir string) error {
	if w.conf.Bool("mapreduce.fileoutputcommitter.marksuccessfuljobs") {
		if err := removeEntries(ctx, fsys, w.ownDir(dir)); err != nil {
			return err
		}
		if err := w.markSuccess(ctx, fsys, dir); err != nil {
			return err
		}
	}
	return w.removeOwnDir(ctx, fsys, dir)
}

// removeEntries removes everything in a directory, but not the directory, which may be missing.
func removeEntries(ctx context.Context, fsys storage.FS, dir string) error {
	entries, err := fsys.List(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		errs = append(errs, fsys.Remove(ctx, e.Path, true))
	}
	return errors.Join(errs...)
}

// markSuccess marks the output as complete. It makes the file in the directory for pieces and
// renames it: both fail if that directory is missing, because another master has ended the
// job. Then perhaps another job writes to the output directory, and the commit is complete
// only if the output is already marked.
func (w *jobWork) markSuccess(ctx context.Context, fsys storage.FS, dir string) error {
	temporary, name := path.Join(w.ownDir(dir), SuccessName), path.Join(dir, SuccessName)
	err := createEmpty(ctx, fsys, temporary)
	if err == nil {
		err = fsys.Rename(ctx, temporary, name)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, markedErr := fsys.Stat(ctx, name); markedErr == nil {
		return nil
	}
	return fmt.Errorf("output directory %s does not belong to %v any more: %w", w.spec.OutputDir, w.job, err)
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

// createEmpty makes an empty file unless it exists. It does not make the directory.
func createEmpty(ctx context.Context, fsys storage.FS, name string) error {
	f, err := fsys.Create(ctx, name, storage.CreateOptions{NoParents: true})
	if err == nil {
		err = storage.Finish(f, nil)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}
