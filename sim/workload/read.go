package workload

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// Format is the format of an input. It is a value of --format.
type Format string

// Formats that Read accepts.
const (
	CSV         Format = "csv"     // numbers of tasks and bytes, a job a line
	SWIMTrace   Format = "swim"    // the Statistical Workload Injector for MapReduce
	RumenTrace  Format = "rumen"   // Hadoop's job traces
	HistoryLogs Format = "history" // histories and reports of jobs, of this project
	SpecText    Format = "spec"    // random distributions, see ParseSpec
)

// readers has the reader of each format. A format is added here, in detectFormat and in
// docs/sim.md.
var readers = map[Format]func(io.Reader, string, Options) (*Workload, error){
	CSV: ReadCSV, SWIMTrace: ReadSWIM, RumenTrace: ReadRumen, HistoryLogs: ReadHistory, SpecText: readSpec,
}

// Formats lists the names of all formats, sorted. Messages list them.
func Formats() []string {
	var names []string
	for f := range readers {
		names = append(names, string(f))
	}
	slices.Sort(names)
	return names
}

// SpecPrefix marks a name as a spec instead of a file.
const SpecPrefix = "spec:"

// ReadFile reads a workload from a file, from a directory of histories, or from a spec in
// the name, such as spec:jobs=10,… or spec:fb2009. The name of a spec is its text; the name
// of a file is its base name.
func ReadFile(name string, o Options) (w *Workload, err error) {
	if text, found := strings.CutPrefix(name, SpecPrefix); found {
		w, err = readSpec(strings.NewReader(text), "spec", o)
		if err == nil {
			w.Name = text
		}
		return w, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	if info.IsDir() {
		absolute, err := filepath.Abs(name)
		if err != nil {
			return nil, fmt.Errorf("workload: %w", err)
		}
		return ReadHistories(context.Background(), local.New(local.Options{}), absolute, o)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	defer f.Close() // read only
	return Read(f, name, o)
}

// Read reads a workload of the format in the options. By default it detects the format from
// the first bytes: JSON with a "jobId" or "type" is history, other JSON rumen; a first line
// with a tab is swim, with "jobs=" spec, with a comma csv. Compressed histories are decompressed.
// Nothing is read twice, so r may be standard input.
func Read(r io.Reader, source string, o Options) (*Workload, error) {
	plain, err := history.Decompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	defer plain.Close() // read only
	in := bufio.NewReaderSize(plain, headBytes)
	// The bytes stay in the buffer for the reader of the format.
	if o.Format == "" {
		head, err := in.Peek(headBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		if len(bytes.TrimSpace(head)) == 0 {
			return nil, fmt.Errorf("%s: empty, expected one of the formats %s", source, strings.Join(Formats(), ", "))
		}
		if o.Format = detectFormat(head); o.Format == "" {
			return nil, fmt.Errorf("%s:1: %q, expected one of the formats %s", source, firstLine(head), strings.Join(Formats(), ", "))
		}
	}
	read, known := readers[o.Format]
	if !known {
		return nil, fmt.Errorf("workload format %q, expected one of %s", o.Format, strings.Join(Formats(), ", "))
	}
	return read(in, source, o)
}

// headBytes is how many bytes Read uses to detect the format.
const headBytes = 64 << 10

// detectFormat returns the format of an input with such a beginning; "" if unknown. The
// order of cases matters: a CSV may contain "=" and a spec commas.
func detectFormat(head []byte) Format {
	head = bytes.TrimSpace(head)
	line := firstLine(head)
	switch {
	case bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte("[")):
		if bytes.Contains(head, []byte(`"jobId"`)) || bytes.HasPrefix(head, []byte(`{"type"`)) {
			return HistoryLogs
		}
		return RumenTrace
	case strings.Contains(line, "\t"):
		return SWIMTrace
	case strings.Contains(line, "jobs="), strings.Contains(line, "arrival="):
		return SpecText
	case strings.Contains(line, ","):
		return CSV
	}
	return ""
}

// firstLine returns the first line, truncated if it is long.
func firstLine(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return string(line[:min(len(line), 200)])
}

// ReadHistories reads a file of histories, or all histories and reports of a directory as one
// workload, also those in directories of days, as jobmasters write them. Other files, such as
// logs and indexes of histories, are skipped by their names, and so are files and days that
// cannot have a selected job.
func ReadHistories(ctx context.Context, fsys storage.FS, name string, o Options) (*Workload, error) {
	h, err := readLog(ctx, fsys, name, &o)
	if err != nil {
		return nil, err
	}
	return h.workload()
}

// readLog reads the jobs of a file or directory.
func readLog(ctx context.Context, fsys storage.FS, name string, o *Options) (*jobLog, error) {
	if o.Format != "" && o.Format != HistoryLogs {
		return nil, fmt.Errorf("workload: %s is a directory, expected a file for format %s", name, o.Format)
	}
	if err := o.prepare(); err != nil {
		return nil, err
	}
	info, err := fsys.Stat(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	h := newJobLog(name, o)
	if info.IsDir {
		err = h.readFilesOf(ctx, fsys, name)
	} else {
		err = h.readNamed(ctx, fsys, name)
	}
	if err != nil {
		return nil, errors.Join(h.err(), err)
	}
	h.source = name
	return h, nil
}

// readFilesOf reads the files of a directory and of its days into the log.
func (h *jobLog) readFilesOf(ctx context.Context, fsys storage.FS, dir string) error {
	entries, err := fsys.List(ctx, dir)
	if err != nil {
		return fmt.Errorf("workload: %w", err)
	}
	for _, e := range entries {
		base := path.Base(e.Path)
		if day, err := time.Parse(time.DateOnly, base); e.IsDir && err == nil && h.selected.hasDay(day) {
			if err := h.readFilesOf(ctx, fsys, e.Path); err != nil {
				return err
			}
		}
		if e.IsDir || !isHistoryName(base) || !h.selected.hasFile(base) {
			continue
		}
		if err := h.readNamed(ctx, fsys, e.Path); err != nil {
			return err
		}
	}
	return nil
}

// isHistoryName reports whether a file is a history or a report, by its name.
func isHistoryName(name string) bool {
	ext := filepath.Ext(strings.TrimSuffix(name, ".zst"))
	return (ext == ".jsonl" || ext == ".json") && !strings.HasPrefix(name, "index-")
}

// readNamed reads one file into the log.
func (h *jobLog) readNamed(ctx context.Context, fsys storage.FS, name string) error {
	f, err := fsys.Open(ctx, name)
	if err != nil {
		return fmt.Errorf("workload: %w", err)
	}
	defer f.Close() // read only
	h.source = name
	plain, err := history.Decompress(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer plain.Close() // read only
	return h.read(plain)
}

// Options control how an input becomes a Workload. The zero value has the defaults.
type Options struct {
	Format   Format // of the input; "" detects it from the content
	Model    Model  // task times of inputs without times
	SWIM     SWIM   // for SWIM traces
	MaxTasks int    // in all jobs; 0 is MaxTasks

	Select Selection // of jobs of histories
}

// prepare sets defaults and reports every error.
func (o *Options) prepare() error {
	o.Model.EnsureDefaults()
	o.SWIM.EnsureDefaults()
	o.MaxTasks = cmp.Or(o.MaxTasks, MaxTasks)
	return errors.Join(o.Model.Validate(), o.SWIM.Validate(),
		validate.That(o.MaxTasks >= 0 && o.MaxTasks <= MaxTasks, "at most %d tasks, expected 1 to %d", o.MaxTasks, MaxTasks))
}
