package workload

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// csvColumns are the columns of a CSV, in any order, required ones first. docs/sim.md
// describes them.
//
//	job,arrival_s,maps,reduces,map_input_bytes,shuffle_bytes
//	j1,0,20,2,2684354560,104857600
var csvColumns = []string{
	"job", "arrival_s", "maps", "reduces", "map_input_bytes", "shuffle_bytes",
	"output_bytes", "bin", "source_job", "name", "pool", "user", "priority", "weight", "slow_start",
	"map_mb", "reduce_mb",
}

const csvRequired = 6

// The column weight has numbers in this range.
const minWeight, maxWeight = 1e-9, 1e9

// ReadCSV reads a job from each line, in order of arrival. Lines have numbers of tasks and
// bytes; the Model gives times. source names the input in errors. An unknown column is
// refused: a misspelt optional one would be ignored silently.
func ReadCSV(r io.Reader, source string, o Options) (*Workload, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	in := csv.NewReader(r)
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return nil, csvError(source, 0, err)
	}
	width := len(head)
	columns, err := columnIndexes(source, head)
	if err != nil {
		return nil, err
	}
	c := newCollector(source, o.MaxTasks)
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return c.workload()
		}
		if err != nil {
			return nil, errors.Join(c.err(), csvError(source, width, err))
		}
		line, _ := in.FieldPos(0)
		row := csvRow{c: c, line: line, columns: columns, record: record}
		row.addJob(&o.Model)
	}
}

// csvError rewords an error of the CSV parser like all other errors here. width is the
// number of columns in the header. io.EOF means an input without a header.
func csvError(source string, width int, err error) error {
	var p *csv.ParseError
	switch {
	case errors.Is(err, csv.ErrFieldCount) && errors.As(err, &p):
		return fmt.Errorf("%s:%d: number of fields differs from the header, expected %d", source, p.Line, width)
	case errors.As(err, &p):
		return fmt.Errorf("%s:%d: column %d of the text: %w, expected CSV, with fields that contain quotes in quotes", source, p.Line, p.Column, p.Err)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s:1: no header, expected columns %s", source, strings.Join(csvColumns[:csvRequired], ", "))
	}
	return fmt.Errorf("%s: %w", source, err)
}

// columnIndexes finds each column in the header. All errors of the header are reported
// together.
func columnIndexes(source string, head []string) (map[string]int, error) {
	var f problems
	columns := make(map[string]int, len(head))
	for i, name := range head {
		name = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
		if _, twice := columns[name]; twice {
			f.add("%s:1: column %q is repeated, expected it once", source, name)
		}
		if !slices.Contains(csvColumns, name) {
			f.add("%s:1: column %q, expected some of %s", source, name, strings.Join(csvColumns, ", "))
		}
		columns[name] = i
	}
	for _, name := range csvColumns[:csvRequired] {
		if _, found := columns[name]; !found {
			f.add("%s:1: no column %q, expected one", source, name)
		}
	}
	return columns, f.err()
}

// csvRow is one line. Its methods parse a column and report invalid values. A column that the
// file lacks is 0 or "". Line numbers count from 1, the header.
type csvRow struct {
	c        *collector
	line     int
	columns  map[string]int
	record   []string
	hasError bool
}

// addJob adds the job of the line. A line with an invalid value is reported and adds no
// job.
func (r *csvRow) addJob(m *Model) {
	j := Job{
		ID:        strings.Clone(r.text("job")),
		Submit:    wholeMillis(1000 * r.number("arrival_s", 0, 0, MaxMillis/1000)),
		Name:      strings.Clone(cmp.Or(r.text("name"), r.text("source_job"))),
		Pool:      strings.Clone(r.text("pool")),
		User:      strings.Clone(r.text("user")),
		Class:     strings.Clone(r.text("bin")),
		Priority:  int(r.whole("priority", -2, 2)),
		SlowStart: r.number("slow_start", -1, -1, 1),
		MemoryMB:  [2]int64{r.whole("map_mb", 0, MaxMemoryMB), r.whole("reduce_mb", 0, MaxMemoryMB)},
	}
	maps, reduces := r.whole("maps", 1, MaxTasks), r.whole("reduces", 0, MaxTasks)
	input, shuffled := r.whole("map_input_bytes", 0, MaxBytes), r.whole("shuffle_bytes", 0, MaxBytes)
	if j.OutputBytes = r.whole("output_bytes", 0, MaxBytes); r.text("output_bytes") != "" {
		j.OutputBytes = max(1, j.OutputBytes)
	}
	r.number("weight", 0, minWeight, maxWeight) // no policy uses it
	if r.hasError || !r.c.allowTasks(r.line, maps+reduces) {
		return
	}
	j.Maps = m.maps(j.ID, int(maps), input, m.BlockBytes)
	j.Reduces = m.reduces(j.ID, int(reduces), shuffled)
	r.c.addJobInOrder(r.line, j)
}

// text returns a field without white space at both ends.
func (r *csvRow) text(column string) string {
	i, found := r.columns[column]
	if !found {
		return ""
	}
	return strings.TrimSpace(r.record[i])
}

// whole parses an integer. An empty field is 0 in an optional column.
func (r *csvRow) whole(column string, least, most int64) int64 {
	text := r.text(column)
	if text == "" && r.optional(column) {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		r.invalid(column, text, fmt.Sprintf("a whole number from %d to %d", least, most))
		return 0
	}
	return n
}

// number parses a finite number. An empty field is absent in an optional column.
func (r *csvRow) number(column string, absent, least, most float64) float64 {
	text := r.text(column)
	if text == "" && r.optional(column) {
		return absent
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= least && x <= most) {
		r.invalid(column, text, fmt.Sprintf("a number from %g to %g", least, most))
		return 0
	}
	return x
}

// optional reports whether the column may be missing or empty.
func (r *csvRow) optional(column string) bool {
	return slices.Index(csvColumns, column) >= csvRequired
}

// invalid reports a value and marks the line.
func (r *csvRow) invalid(column, found, expected string) {
	r.hasError = true
	r.c.errorAt(r.line, "column %s: %q, expected %s", column, found, expected)
}
