package hadoop

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
)

// object is a JSON object with its fields in order. Values are texts, numbers,
// bools, objects, lists, and slices of texts and objects. A list without elements is left out, as
// Hadoop does it.
type object []field

type field struct {
	name  string
	value any
}

// list has the elements of a long list. They are made while they are written.
type list iter.Seq[object]

// emptyList is written as [] in JSON.
type emptyList struct{}

// document is an answer.
type document struct {
	root   string // name of the field that has the body; "" if the answer is the body
	status int    // 0 for 200
	to     string // a redirection to this path; "" for none
	body   object
}

// writeJSON writes the document as Hadoop's JSON: a list is a list even if it has one element, and
// an integer has no fraction.
func (d *document) writeJSON(to io.Writer) error {
	w := jsonWriter{bufio.NewWriter(to)}
	if d.root == "" {
		w.value(d.body)
	} else {
		w.value(object{{d.root, d.body}})
	}
	return w.Flush()
}

type jsonWriter struct{ *bufio.Writer }

func (w jsonWriter) value(value any) {
	switch v := value.(type) {
	case object:
		w.object(v)
	case float64:
		_, _ = w.WriteString(fraction(v)) // Flush reports errors
	case int64:
		_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), v, 10))
	case emptyList:
		_, _ = w.WriteString("[]")
	default:
		text, _ := json.Marshal(v) // texts, integers, bools
		_, _ = w.Write(text)
	}
}

func (w jsonWriter) object(o object) {
	before := "{"
	for _, f := range o {
		name := before + `"` + f.name + `":`
		switch elements := elementsOf(f.value); {
		case elements == nil:
			_, _ = w.WriteString(name)
			w.value(f.value)
			before = ","
		case w.list(name+"[", elements):
			before = ","
		}
	}
	if before == "{" {
		_ = w.WriteByte('{')
	}
	_ = w.WriteByte('}')
}

// list writes elements, with a text before the first. It reports whether there were any.
func (w jsonWriter) list(before string, elements iter.Seq[any]) (any bool) {
	for e := range elements {
		_, _ = w.WriteString(before)
		w.value(e)
		before, any = ",", true
	}
	if any {
		_ = w.WriteByte(']')
	}
	return any
}

// elementsOf returns the elements of a list, nil for another value.
func elementsOf(value any) iter.Seq[any] {
	switch v := value.(type) {
	case list:
		return func(yield func(any) bool) {
			for e := range v {
				if !yield(e) {
					return
				}
			}
		}
	case []object:
		return anyOf(v)
	case []string:
		return anyOf(v)
	}
	return nil
}

func anyOf[T any](all []T) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, e := range all {
			if !yield(e) {
				return
			}
		}
	}
}

// fraction prints a number as Java does: with a fraction.
func fraction(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
