package docs

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Param is a parameter of a request. One whose name is in the path is a part of the path; others are in the
// query of a GET, and in the form of a POST.
type Param struct {
	Name     string
	Doc      string // one phrase
	Default  string
	Enum     []string // the accepted values, in any case of letters; nil for any text
	Max      int      // if not 0, the value is a number from 1 to Max
	Zero     bool     // the number may be 0 too
	List     bool     // several values, joined by commas
	Required bool     // an empty value is refused
	Duration bool     // the value is a time, as 10m
}

// maxDuration bounds a time that is a parameter.
const maxDuration = 30 * 24 * time.Hour

// MaxParam bounds a parameter in bytes.
const MaxParam = 512

// BadParam is the error for a wrong parameter.
type BadParam struct{ Name, Problem string }

func (e *BadParam) Error() string { return fmt.Sprintf("parameter %s %s", e.Name, e.Problem) }

// Bad returns a BadParam.
func Bad(name, problem string) error { return &BadParam{name, problem} }

// Check returns the value as handlers get it, or why it is wrong.
func (p *Param) Check(value string) (string, error) {
	if value == "" {
		if p.Required {
			return "", Bad(p.Name, "is missing: "+p.Doc)
		}
		return p.Default, nil
	}
	if len(value) > MaxParam {
		return "", Bad(p.Name, fmt.Sprintf("has %d bytes; at most %d are accepted", len(value), MaxParam))
	}
	if p.Max > 0 {
		least := 1
		if p.Zero {
			least = 0
		}
		if n, err := strconv.Atoi(value); err != nil || n < least || n > p.Max {
			return "", Bad(p.Name, fmt.Sprintf("%q: expected a number from %d to %d", value, least, p.Max))
		}
		return value, nil
	}
	if p.Duration {
		if d, err := time.ParseDuration(value); err != nil || d <= 0 || d > maxDuration {
			return "", Bad(p.Name, fmt.Sprintf("%q: expected a time up to %v, as 10m or 2h30m", value, maxDuration))
		}
	}
	if p.Enum == nil {
		return value, nil
	}
	parts := []string{value}
	if p.List {
		parts = strings.Split(value, ",")
	}
	for i, part := range parts {
		at := slices.IndexFunc(p.Enum, func(known string) bool { return strings.EqualFold(known, strings.TrimSpace(part)) })
		if at < 0 {
			return "", Bad(p.Name, fmt.Sprintf("%q: expected one of %s", part, strings.Join(p.Enum, ", ")))
		}
		parts[i] = p.Enum[at]
	}
	return strings.Join(parts, ","), nil
}

// field is a field of a struct of parameters. Its tags are
//
//	param:"name,required"  required may be left out; a parameter of the path is required
//	doc:"phrase"
//	default:"50"
//	max:"1000"             the value is a number from 1 to it
//	enum:"jobStates"       the accepted values are those of enums
//
// A field is a text, a number, a list of texts, or a type with UnmarshalText and MarshalText. A field of
// type Page has its own parameters. The zero value of a field stands for no value.
type field struct {
	Param
	index []int
}

// fieldsOf returns the parameters of a struct.
func fieldsOf(t reflect.Type, e *Entry) (fields []field) {
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("param"), ",")
		if name == "" {
			continue
		}
		p := Param{Name: name, Doc: f.Tag.Get("doc"), Default: f.Tag.Get("default"), List: f.Type.Kind() == reflect.Slice}
		p.Required = options == "required" || strings.Contains(e.Path, "{"+name+"}")
		p.Max, _ = strconv.Atoi(f.Tag.Get("max")) // 0 without the tag
		if key := f.Tag.Get("enum"); key != "" {
			p.Enum = enums[key]
		}
		if name == "sort" {
			p.Default, p.Enum = e.columns[0], e.columns[1:]
		}
		fields = append(fields, field{p, f.Index})
	}
	return fields
}

// set sets a field to the value of its parameter.
func (f *field) set(to reflect.Value, text string) (err error) {
	if text == "" {
		return nil
	}
	if u, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			return Bad(f.Name, fmt.Sprintf("%q: %v", text, err))
		}
		return nil
	}
	switch to.Kind() {
	case reflect.String:
		to.SetString(text)
	case reflect.Slice:
		to.Set(reflect.ValueOf(strings.Split(text, ",")))
	default:
		var n int64
		if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < 0 {
			return Bad(f.Name, fmt.Sprintf("%q: expected a number", text))
		}
		to.Set(reflect.ValueOf(n).Convert(to.Type()))
	}
	return nil
}

// text returns the value of a field as a parameter, "" for the zero value.
func (f *field) text(v reflect.Value) string {
	if v.IsZero() {
		return ""
	}
	switch value := v.Interface().(type) {
	case encoding.TextMarshaler:
		text, _ := value.MarshalText() // the types here never fail
		return string(text)
	case []string:
		return strings.Join(value, ",")
	}
	return fmt.Sprint(v.Interface())
}

// enums has the accepted values of parameters by the name in their tags.
var enums = map[string][]string{
	"shownJobStates": ShownJobStates, "finalJobStates": FinalJobStates, "taskStates": TaskStates, "nodeStates": NodeStates, "taskTypes": {"MAP", "REDUCE"},
	"places": Places, "decisions": DecisionKinds, "auditObjects": AuditObjects, "by": {"stage", "node"}, "yes": {Yes},
}

// Time is a point in time as a parameter: ms since the epoch, 0 for none. It is written as in RFC 3339, or as
// a day in UTC, which is its beginning.
type Time int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(text []byte) error {
	at, err := ParseTime(string(text), false)
	*t = Time(at)
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) {
	return []byte(time.UnixMilli(int64(t)).UTC().Format(time.RFC3339Nano)), nil
}

// EndTime is Time, but a day is its end.
type EndTime int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *EndTime) UnmarshalText(text []byte) error {
	at, err := ParseTime(string(text), true)
	*t = EndTime(at)
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (t EndTime) MarshalText() ([]byte, error) { return Time(t).MarshalText() }

// ParseTime returns a time in ms since the epoch, 0 for none. A day is its beginning or, if end is set, its end.
func ParseTime(text string, end bool) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		if end {
			day = day.AddDate(0, 0, 1)
		}
		return day.UnixMilli(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, errors.New("expected a day as 2026-11-23 or a time of RFC 3339")
	}
	return at.UnixMilli(), nil
}

// Millis is a duration as a parameter: ms, 0 for none. It is written as 90s, 10m or 2h.
type Millis int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Millis) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d < 0 {
		return errors.New("expected a time as 90s, 10m or 2h")
	}
	*m = Millis(d.Milliseconds())
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (m Millis) MarshalText() ([]byte, error) {
	return []byte((time.Duration(m) * time.Millisecond).String()), nil
}
