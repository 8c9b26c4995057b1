package chaos

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
)

// Row is a drill in the table of all drills, which only grows. A row has what a reader
// needs to play the drill again: the seed, and with the default kinds the plan follows from
// it.
type Row struct {
	Seed          uint64
	Faults        int // injected
	Planned       int
	Kinds         string // of the faults injected, joined by +
	Jobs          int
	Bytes         int64 // compared
	Lost          int64 // files of output
	ExtraAttempts int   // attempts
	WorkLost      int64 // ms
	RecoveryMS    int64
	ElapsedMS     int64
	Verdict       string
	Reached       string // paths of recovery with their numbers, joined by +
}

// columns are the table's first line.
var columns = []string{"seed", "faults", "planned", "kinds", "jobs", "bytes", "lost", "attempts_again",
	"work_lost_ms", "recovery_ms", "elapsed_ms", "verdict", "reached"}

// values points to the values of a row, in the order of columns.
func (r *Row) values() []any {
	return []any{&r.Seed, &r.Faults, &r.Planned, &r.Kinds, &r.Jobs, &r.Bytes, &r.Lost, &r.ExtraAttempts,
		&r.WorkLost, &r.RecoveryMS, &r.ElapsedMS, &r.Verdict, &r.Reached}
}

// RowOf returns the row of a drill. Kinds has only those that were injected: a kind that never
// hits anything must not look tested.
func RowOf(plan *Plan, v *Verdict) Row {
	var kinds []Kind
	for i, f := range v.Faults {
		if f.Injected && !slices.Contains(kinds, plan.Faults[i].Kind) {
			kinds = append(kinds, plan.Faults[i].Kind)
		}
	}
	return Row{
		Seed: v.Seed, Faults: v.Injected(), Planned: len(plan.Faults), Kinds: strings.ReplaceAll(join(kinds), ", ", "+"),
		Jobs: len(v.Jobs), Bytes: v.Bytes, Lost: v.Lost, ExtraAttempts: v.ExtraAttempts, WorkLost: v.WorkLost,
		RecoveryMS: v.Recovery, ElapsedMS: v.Elapsed, Verdict: v.Label(),
		Reached: v.Reached.String(),
	}
}

// fields returns the fields of a row; parseRow reads them back.
func (r Row) fields() (fields []string) {
	for _, value := range r.values() {
		fields = append(fields, fmt.Sprint(reflect.ValueOf(value).Elem()))
	}
	return fields
}

// Append appends a row to the table in a file, which it creates if necessary. Several
// processes may append to one file: a row is one write in append mode.
func (r Row) Append(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if info.Size() == 0 {
		err = w.Write(columns)
	} else {
		_, err = readHeader(csv.NewReader(f), file)
	}
	if err != nil {
		return err
	}
	if err := w.Write(r.fields()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// readHeader refuses a file with other columns, so that Append never damages a file that
// the user has named by mistake.
func readHeader(r *csv.Reader, file string) (*csv.Reader, error) {
	r.FieldsPerRecord = len(columns)
	head, err := r.Read()
	if err == nil && strings.Join(head, ",") != strings.Join(columns, ",") {
		err = errors.New("its columns differ")
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a table of drills; move it away: %w", file, err)
	}
	return r, nil
}

// ReadTable reads all rows.
func ReadTable(from io.Reader, file string) (rows []Row, err error) {
	r, err := readHeader(csv.NewReader(from), file)
	if err != nil {
		return nil, err
	}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		row, err := parseRow(fields)
		if err != nil {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		rows = append(rows, row)
	}
}

func parseRow(fields []string) (r Row, err error) {
	for i, value := range r.values() {
		if text, isText := value.(*string); isText {
			*text = fields[i]
		} else if _, failed := fmt.Sscan(fields[i], value); failed != nil {
			return r, fmt.Errorf("%s: %q: %w", columns[i], fields[i], failed)
		}
	}
	if !slices.Equal(r.fields(), fields) { // Sscan stops at the first character that is no digit
		return r, fmt.Errorf("%q: expected numbers and words", fields)
	}
	return r, nil
}

// Total adds up drills.
type Total struct {
	Drills, Bad, Faults, Jobs, ExtraAttempts int
	Bytes, Lost, WorkLost                    int64
	MaxRecoveryMS                            int64
}

// Sum adds up rows.
func Sum(rows []Row) (t Total) {
	for _, r := range rows {
		t.Drills++
		if r.Verdict != "good" {
			t.Bad++
		}
		t.Faults += r.Faults
		t.Jobs += r.Jobs
		t.ExtraAttempts += r.ExtraAttempts
		t.Bytes += r.Bytes
		t.Lost += r.Lost
		t.WorkLost += r.WorkLost
		t.MaxRecoveryMS = max(t.MaxRecoveryMS, r.RecoveryMS)
	}
	return t
}

func (t Total) String() string {
	return fmt.Sprintf("%d drills, %d bad: %d faults, %d jobs, %d bytes compared, %d lost, %d attempts again, %d ms of work lost, recovery within %d ms",
		t.Drills, t.Bad, t.Faults, t.Jobs, t.Bytes, t.Lost, t.ExtraAttempts, t.WorkLost, t.MaxRecoveryMS)
}
