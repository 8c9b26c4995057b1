package histindex

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/storage"
)

// day is what is known of a directory.
type day struct {
	listed   time.Time                   // when it was listed last
	jobs     map[string]*history.Summary // by id
	read     map[string]bool             // index files that were read, by name
	unusable map[string]fault            // files that cannot be used, by full path
	added    int                         // calls of add
}

// fault is why a file cannot be used. The file is not read again before it changes.
type fault struct {
	modified time.Time
	size     int64
	text     string
}

// problems returns the files that cannot be used, sorted.
func (d *day) problems() (list []Problem) {
	for _, file := range slices.Sorted(maps.Keys(d.unusable)) {
		list = append(list, Problem{file, d.unusable[file].text})
	}
	return list
}

const (
	// indexPrefix begins the names of index files.
	indexPrefix = "index-"
	// oldInterval is how old the listing of an old day may be: jobs of that day have finished, and only
	// their index files are new, which list the same jobs.
	oldInterval = time.Hour
	// maxLine bounds a line of an index file. A summary has bounded texts.
	maxLine = 64 << 10
)

// newestFirst returns the names of the directories: the days from the last to the first, then the
// directory of histories itself.
func (x *Index) newestFirst() []string {
	return slices.SortedFunc(maps.Keys(x.days), func(a, b string) int { return strings.Compare(b, a) })
}

// list brings days up to date and publishes views meanwhile.
func (x *Index) list(ctx context.Context, now time.Time) {
	fsys, root, err := x.cfg.Resolve(ctx, x.cfg.Dir)
	if err != nil {
		x.publish(now, []Problem{{x.cfg.Dir, err.Error()}}, false, true)
		return
	}
	var problems []Problem
	entries, err := fsys.List(ctx, root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, Problem{x.cfg.Dir, err.Error()})
	}
	present := map[string]bool{"": true}
	for _, e := range entries {
		if name := path.Base(e.Path); e.IsDir && isDay(name) {
			present[name] = true
		}
	}
	if err == nil { // days that are gone have reached the retention time
		before := len(x.days)
		maps.DeleteFunc(x.days, func(name string, _ *day) bool { return !present[name] })
		x.changes += before - len(x.days)
	}
	for name := range present {
		if x.days[name] == nil {
			x.days[name] = &day{jobs: make(map[string]*history.Summary), read: make(map[string]bool), unusable: make(map[string]fault)}
		}
	}
	jobs, leftOut := 0, false
	published := time.Now() // the real time: how long readers of the view wait
	for _, name := range x.newestFirst() {
		d := x.days[name]
		if jobs >= x.cfg.MaxJobs {
			leftOut = leftOut || name != ""
			x.changes += len(d.jobs)
			d.jobs, d.read, d.listed = make(map[string]*history.Summary), make(map[string]bool), time.Time{}
			continue
		}
		before := d.added
		if err := x.listDay(ctx, fsys, path.Join(root, name), name, d, now); err != nil {
			problems = append(problems, Problem{path.Join(x.cfg.Dir, name), err.Error()})
		}
		x.changes += d.added - before
		if jobs += len(d.jobs); ctx.Err() != nil {
			return
		}
		if time.Since(published) > x.cfg.Patience/2 {
			x.publish(now, problems, leftOut, false)
			published = time.Now()
		}
	}
	x.publish(now, problems, leftOut, true)
}

// isDay reports whether a name is that of the directory of a day.
func isDay(name string) bool {
	_, err := time.Parse(time.DateOnly, name)
	return err == nil
}

// listDay brings a day up to date.
func (x *Index) listDay(ctx context.Context, fsys storage.FS, dir, name string, d *day, now time.Time) error {
	if end, err := time.Parse(time.DateOnly, name); err == nil && now.Sub(end) > 48*time.Hour && now.Sub(d.listed) < oldInterval {
		return nil
	}
	entries, err := fsys.List(ctx, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a missing directory has no jobs yet
		return err
	}
	files := make(map[string]bool)
	var histories []storage.FileInfo
	for _, e := range entries {
		files[e.Path] = true
		switch base := path.Base(e.Path); {
		case e.IsDir:
		case strings.HasPrefix(base, indexPrefix) && strings.HasSuffix(base, history.IndexSuffix):
			if !d.read[base] && !d.isDamaged(e) {
				d.read[base] = d.note(e, d.readIndex(ctx, fsys, e.Path))
			}
		case JobOf(base) != "":
			histories = append(histories, e)
		}
	}
	maps.DeleteFunc(d.unusable, func(file string, _ fault) bool { return !files[file] })
	x.readHeads(ctx, fsys, d, histories)
	d.listed = now
	return ctx.Err()
}

// JobOf returns the id of the job of a history, by the name of its file; "" for other files.
func JobOf(name string) string {
	id, is := strings.CutSuffix(name, history.CompressedSuffix)
	if parsed, err := cluster.ParseJobID(id); err != nil || !is || parsed.String() != id {
		return ""
	}
	return id
}

// isDamaged reports whether a file has a fault and has not changed since.
func (d *day) isDamaged(e storage.FileInfo) bool {
	f, known := d.unusable[e.Path]
	return known && f.modified.Equal(e.ModTime) && f.size == e.Size
}

// note notes the fault of a file. It reports whether the file need not be read again: it has no fault.
// A fault that may go away by itself is not noted as one of this content.
func (d *day) note(e storage.FileInfo, err error) bool {
	switch {
	case err == nil:
		delete(d.unusable, e.Path)
	case errors.Is(err, storage.ErrCorrupt):
		d.unusable[e.Path] = fault{e.ModTime, e.Size, err.Error()}
	default:
		d.unusable[e.Path] = fault{text: err.Error()}
	}
	return err == nil
}

// readIndex adds the jobs of an index file.
func (d *day) readIndex(ctx context.Context, fsys storage.FS, name string) error {
	f, err := fsys.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close() // the file was only read
	lines := bufio.NewReaderSize(f, maxLine)
	texts := make(map[string]string)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		var s history.Summary
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if err != nil || json.Unmarshal(line, &s) != nil || s.ID == "" {
			return fmt.Errorf("%w: line %d of the index is not a summary of a job", storage.ErrCorrupt, n)
		}
		d.add(&s, texts)
	}
}

// add adds a job. Texts that many jobs have are kept once.
func (d *day) add(s *history.Summary, texts map[string]string) {
	for _, text := range []*string{&s.User, &s.Queue, &s.Priority, &s.State, &s.Name, &s.Cause} {
		if known, ok := texts[*text]; ok {
			*text = known
		} else {
			texts[*text] = *text
		}
	}
	if s.OutputBytes == 0 && d.jobs[s.ID] != nil {
		s.OutputBytes = d.jobs[s.ID].OutputBytes
	}
	d.jobs[s.ID] = s
	d.added++
}

// readHeads reads the first lines of histories whose jobs no index lists.
func (x *Index) readHeads(ctx context.Context, fsys storage.FS, d *day, files []storage.FileInfo) {
	var group errgroup.Group
	group.SetLimit(x.cfg.Parallelism)
	var mu sync.Mutex // guards d and texts
	texts := make(map[string]string)
	for _, e := range files {
		mu.Lock()
		known := d.jobs[JobOf(path.Base(e.Path))] != nil || d.isDamaged(e)
		mu.Unlock()
		if known || ctx.Err() != nil {
			continue
		}
		group.Go(func() error {
			s, err := readHead(ctx, fsys, e.Path)
			mu.Lock()
			defer mu.Unlock()
			if d.note(e, err) {
				d.add(s, texts)
			}
			return nil
		})
	}
	_ = group.Wait() // files that cannot be used are noted
}

// readHead returns the summary of the job of a history.
func readHead(ctx context.Context, fsys storage.FS, name string) (*history.Summary, error) {
	f, err := fsys.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the file was only read
	h, err := history.DecodeHead(f)
	if err != nil {
		return nil, err
	}
	s := history.SummaryOf(h.Status)
	if want := JobOf(path.Base(name)); s.ID != want {
		return nil, fmt.Errorf("%w: the history of %.100q is in the file of %s", storage.ErrCorrupt, s.ID, want)
	}
	return &s, nil
}
