package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/histindex"
)

// Names of files of `hammr chaos run --report DIR`.
const (
	verdictFile = "verdict.json" // in the directory of a drill
	planFile    = "plan"         // beside it
	tableFile   = "drills.csv"   // in DIR
)

// maxDrills bounds the drills of a list, the newest ones.
const maxDrills = 1000

// drills has the reports in a directory.
type drills struct{ dir string }

// Drills answers the documents of drills from the reports in a directory.
func Drills(dir string) docs.Table {
	t, s := docs.Table{}, drills{dir}
	docs.Serve(t, docs.Drills, s.list)
	docs.Serve(t, docs.Drill, s.report)
	return t
}

func (s drills) list(context.Context, docs.No) (docs.Answer[docs.DrillList], error) {
	list := docs.DrillList{Directory: s.dir, Drills: []docs.DrillRow{}, Problems: []histindex.Problem{}}
	names, err := s.drillNames()
	if err != nil {
		return docs.Answer[docs.DrillList]{}, err
	}
	for _, name := range names[:min(len(names), maxDrills)] {
		d, err := s.readDrill(name)
		if err != nil {
			list.Problems = append(list.Problems, histindex.Problem{File: name, Text: err.Error()})
			continue
		}
		list.Drills = append(list.Drills, d.Drill)
	}
	if list.Total, err = s.drillTotal(); err != nil {
		list.Problems = append(list.Problems, histindex.Problem{File: tableFile, Text: err.Error()})
	}
	return docs.Answer[docs.DrillList]{Value: list, At: time.Now()}, nil
}

// drillNames returns the directories of drills, the newest first. A drill without a verdict runs, or
// was killed.
func (s drills) drillNames() (names []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	modified := make(map[string]int64)
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(s.dir, e.Name(), verdictFile)); err == nil {
			names = append(names, e.Name())
			modified[e.Name()] = info.ModTime().UnixNano()
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(modified[b], modified[a]) })
	return names, nil
}

// readDrill reads the report in a directory.
func (s drills) readDrill(name string) (d docs.DrillReport, err error) {
	dir := filepath.Join(s.dir, name)
	text, err := os.ReadFile(filepath.Join(dir, verdictFile))
	if err != nil {
		return d, err
	}
	if d.Verdict, err = chaos.ParseVerdict(text); err != nil {
		return d, err
	}
	plan, err := os.ReadFile(filepath.Join(dir, planFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	d.Plan = string(plan)
	parsed, _ := chaos.Parse(planFile, plan) // the list is without kinds if it is damaged
	d.Drill = docs.DrillRowOf(name, parsed, d.Verdict)
	return d, nil
}

// drillTotal returns the sums of the table of drills, "" if there is none.
func (s drills) drillTotal() (string, error) {
	f, err := os.Open(filepath.Join(s.dir, tableFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() // it was only read
	rows, err := chaos.ReadTable(f, tableFile)
	if err != nil {
		return "", err
	}
	return chaos.Sum(rows).String(), nil
}

func (s drills) report(_ context.Context, q docs.DrillID) (docs.Answer[docs.DrillReport], error) {
	names, err := s.drillNames()
	if err != nil {
		return docs.Answer[docs.DrillReport]{}, err
	}
	if !slices.Contains(names, q.Drill) { // so it is no path to somewhere else
		return docs.Answer[docs.DrillReport]{}, fmt.Errorf("no drill %.100q in %s: %w", q.Drill, s.dir, docs.ErrUnknown)
	}
	d, err := s.readDrill(q.Drill)
	return docs.Answer[docs.DrillReport]{Value: d, At: time.Now()}, classify(err)
}
