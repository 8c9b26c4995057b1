package fluid

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Columns of files.
const (
	columnID       = "jobid"
	columnArrival  = "arrival_s"
	columnSize     = "size_s"
	columnEstimate = "estimate_s"
	columnWeight   = "weight"
	columnSojourn  = "sojourn_s"
)

// ReadJobs reads jobs from CSV with a header. The columns jobid, arrival_s and size_s are
// required; estimate_s (default: the size) and weight (default: 1) are optional. Columns
// come in any order, and others are ignored. Errors name the file, the line, what was found
// and what was expected.
func ReadJobs(name string, from io.Reader) ([]Job, error) {
	r := &reader{name: name, csv: csv.NewReader(from), check: newJobCheck()}
	r.csv.ReuseRecord = true
	if err := r.header(); err != nil {
		return nil, err
	}
	var jobs []Job
	for {
		j, err := r.next()
		if errors.Is(err, io.EOF) {
			return jobs, nil
		}
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
}

// reader reads one file of jobs.
type reader struct {
	name   string
	csv    *csv.Reader
	width  int            // of the header
	column map[string]int // index of each known column of the file
	check  *jobCheck
}

// header finds the columns. A byte order mark before the first name is ignored, as
// spreadsheets write it.
func (r *reader) header() error {
	names, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: empty; expected a header with %s, %s and %s", r.name, columnID, columnArrival, columnSize)
	}
	if err != nil {
		return r.malformed(err)
	}
	r.width, r.column = len(names), make(map[string]int)
	for i, n := range names {
		n = strings.TrimSpace(strings.TrimPrefix(n, "\ufeff"))
		if !slices.Contains([]string{columnID, columnArrival, columnSize, columnEstimate, columnWeight}, n) {
			continue
		}
		if _, twice := r.column[n]; twice {
			return fmt.Errorf("%s:%d: column %s is repeated; expected it once", r.name, r.line(i), n)
		}
		r.column[n] = i
	}
	for _, n := range []string{columnID, columnArrival, columnSize} {
		if _, found := r.column[n]; !found {
			return fmt.Errorf("%s:%d: column %s is missing; expected a header with %s, %s and %s",
				r.name, r.line(0), n, columnID, columnArrival, columnSize)
		}
	}
	return nil
}

// next reads a job; io.EOF at the end.
func (r *reader) next() (Job, error) {
	record, err := r.csv.Read()
	if errors.Is(err, io.EOF) {
		return Job{}, io.EOF
	}
	if err != nil {
		return Job{}, r.malformed(err)
	}
	j, err := r.job(record)
	if err != nil {
		return Job{}, err
	}
	line := r.line(0)
	if err := r.check.admit(j, fmt.Sprintf("line %d", line)); err != nil {
		return Job{}, fmt.Errorf("%s:%d: %w", r.name, line, err)
	}
	return j, nil
}

// job parses a record. It does not check the values.
func (r *reader) job(record []string) (Job, error) {
	j := Job{ID: strings.Clone(record[r.column[columnID]]), Weight: 1}
	for _, f := range []struct {
		column string
		to     *float64
	}{
		{columnArrival, &j.ArrivalS}, {columnSize, &j.SizeS}, {columnEstimate, &j.EstimateS}, {columnWeight, &j.Weight},
	} {
		i, found := r.column[f.column]
		if !found {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(record[i]), 64)
		if err != nil {
			return Job{}, fmt.Errorf("%s:%d: job %q: %s is %q; expected a number", r.name, r.line(i), j.ID, f.column, record[i])
		}
		*f.to = value
	}
	if _, found := r.column[columnEstimate]; !found {
		j.EstimateS = j.SizeS
	}
	return j, nil
}

// line returns the line of a field in the last record.
func (r *reader) line(field int) int {
	line, _ := r.csv.FieldPos(field)
	return line
}

// malformed adds the place to an error of the CSV parser.
func (r *reader) malformed(err error) error {
	var parse *csv.ParseError
	switch {
	case !errors.As(err, &parse):
		return fmt.Errorf("%s: %w", r.name, err)
	case errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("%s:%d: number of fields differs from the header; expected %d", r.name, parse.Line, r.width)
	}
	return fmt.Errorf("%s:%d: column %d: %w; expected CSV, with fields that contain quotes in quotes", r.name, parse.Line, parse.Column, parse.Err)
}

// WriteSojourns writes the columns jobid and sojourn_s, in the order of jobs, with fifteen
// significant digits. These are all digits of a float64 that are exact.
func WriteSojourns(to io.Writer, jobs []Job, sojourns []float64) error {
	w := csv.NewWriter(to)
	if err := w.Write([]string{columnID, columnSojourn}); err != nil {
		return err
	}
	for i, j := range jobs {
		if err := w.Write([]string{j.ID, fmt.Sprintf("%#.15g", sojourns[i])}); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
