package hadoop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// A shape is what a client relies on in an answer: the path of each value and its type. Elements
// of a list have the path of the list with [] and are taken together. So answers about
// different jobs have the same shape.
type shape map[string]string

// add notes a value. A value of two types has both, joined by |.
func (s shape) add(path, kind string) {
	if old := s[path]; old != "" && !slices.Contains(strings.Split(old, "|"), kind) {
		kinds := append(strings.Split(old, "|"), kind)
		slices.Sort(kinds)
		kind = strings.Join(kinds, "|")
	} else if old != "" {
		return
	}
	s[path] = kind
}

// shapeOf returns the shape of an answer.
func shapeOf(text []byte) (shape, error) {
	s := make(shape)
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, fmt.Errorf("%w: %.300s", err, text)
	}
	s.json("", value)
	return s, nil
}

// resourcePath is the path of all objects that describe memory and vcores.
const resourcePath = "(resource)"

func (s shape) json(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			s.add(path, "empty object")
		}
		if v["resourceInformations"] != nil && path != resourcePath { // there are very many
			s.add(path, "resource")
			path = resourcePath
		}
		for key, of := range v {
			s.json(strings.TrimPrefix(path+"."+key, "."), of)
		}
	case []any:
		if len(v) == 0 {
			s.add(path+"[]", "empty")
		}
		for _, of := range v {
			s.json(path+"[]", of)
		}
	case json.Number:
		kind := "integer"
		if strings.ContainsAny(v.String(), ".eE") {
			kind = "number"
		}
		s.add(path, kind)
	case string:
		s.add(path, "string")
	case bool:
		s.add(path, "boolean")
	case nil:
		s.add(path, "null")
	}
}

// goldenFile has the shapes of Hadoop's own answers, as `make accept-hadoop` records them.
const goldenFile = "testdata/hadoop-3.4.3.txt"

// Sections of the file begin with a line "== NAME STATUS".
func readGolden(t *testing.T) map[string]shape {
	t.Helper()
	text, err := os.ReadFile(goldenFile)
	must.Do(t, err)
	return parseGolden(string(text))
}

func parseGolden(text string) map[string]shape {
	all := make(map[string]shape)
	var s shape
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, begins := strings.CutPrefix(line, "== "); begins {
			s = make(shape)
			all[name] = s
			continue
		}
		if path, kind, found := strings.Cut(line, " "); found && path != "#" {
			s[path] = kind
		}
	}
	return all
}
