package cluster

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
)

var update = flag.Bool("update", false, "write the golden files of the codecs again")

// goldenEntries was written by an earlier version.
const goldenEntries = "testdata/codec/entries.v3"

// filledEntries returns an entry for each verb, with no field left zero.
func filledEntries(t testing.TB) (entries []Entry) {
	n := 0
	for _, v := range verbs {
		filled := reflect.New(v.command).Elem()
		fill(t, filled, &n)
		command := filled.Interface().(Command)
		if _, raises := command.(SetVersion); raises {
			command = SetVersion{FormatVersion} // others are refused
		}
		entries = append(entries, Entry{At: int64(n), Client: "c", Sequence: uint64(n), Command: command, By: "ann@10.0.0.1"})
	}
	return entries
}

// fill sets everything in v to distinct values. It fails the test for a field that the codec
// would skip.
func fill(t testing.TB, v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); !field.IsExported() {
				t.Fatalf("%v.%s is not exported: the codec would lose it", v.Type(), field.Name)
			}
			fill(t, v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d, not UTF-8: \xff", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("%v: the codec's tests do not know kind %v", v.Type(), v.Kind())
	}
}

func TestEveryCommandIsDecodedWithAllItsFields(t *testing.T) {
	want := filledEntries(t)
	want = append(want, Entry{Command: SubmitJob{}}, Entry{Command: FinishAttempt{}}) // nothing but zeros
	data, err := EncodeEntries(want)
	must.Do(t, err)
	got, err := DecodeEntries(data)
	must.Do(t, err)
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s came back as\n%+v, want\n%+v", verbs[i].name, got[i], want[i])
		}
	}
}

// TestEveryCommandHasAVerb finds commands by their method. Each is in a file apply_….go and
// has a verb.
func TestEveryCommandHasAVerb(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must.Do(t, err)
	var found []string
	for _, path := range slices.DeleteFunc(files, func(path string) bool { return strings.HasSuffix(path, "_test.go") }) {
		for _, receiver := range receiversOfApply(t, path) {
			found = append(found, receiver)
			if !strings.HasPrefix(path, "apply_") {
				t.Errorf("%s is in %s, not in a file apply_….go", receiver, path)
			}
		}
	}
	var listed []string
	for _, e := range filledEntries(t) {
		listed = append(listed, reflect.TypeOf(e.Command).Name())
	}
	slices.Sort(found)
	slices.Sort(listed)
	if listed = slices.Compact(listed); len(found) == 0 || !slices.Equal(found, listed) {
		t.Errorf("commands in files:\n%s\nwith verbs (codec_entries.go):\n%s", strings.Join(found, "\n"), strings.Join(listed, "\n"))
	}
	names := func(a, b verb) int { return strings.Compare(a.name, b.name) }
	if len(verbsByName) != len(verbs) || len(verbsByType) != len(verbs) || !slices.IsSortedFunc(verbs, names) {
		t.Error("a verb is listed twice, or out of order")
	}
}

func receiversOfApply(t *testing.T, path string) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	must.Do(t, err)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "subject" {
			names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	return names
}

// TestEntriesOfEarlierVersionsAreRead fails when a verb or a field is renamed
// or removed. Run with -update to add new ones to the golden file.
func TestEntriesOfEarlierVersionsAreRead(t *testing.T) {
	data, err := os.ReadFile(goldenEntries)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if err == nil {
		entries, err := DecodeEntries(data)
		must.Do(t, err)
		if len(entries) == 0 {
			t.Error("the golden file holds no entries")
		}
		now, err := EncodeEntries(filledEntries(t))
		must.Do(t, err)
		if !*update && !bytes.Equal(now, data) {
			t.Error("entries are encoded differently from the golden file: keep the tags of fields, and run with -update only after adding a field or a command")
		}
	}
	if *update {
		data, err := EncodeEntries(filledEntries(t))
		must.Do(t, err)
		writeGolden(t, goldenEntries, data)
	}
}

func writeGolden(t *testing.T, path string, data []byte) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, data, 0o644))
}

// TestEntriesOfALifeAreDecoded encodes and decodes the entries of random histories.
func TestEntriesOfALifeAreDecoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, twin := New("1"), New("1")
		for batch := range rapid.IntRange(1, 20).Draw(t, "batches") {
			entries := []Entry{
				{At: int64(batch + 1), Command: drawCommand(t, s)},
				{At: int64(batch + 1), Client: "c", Sequence: rapid.Uint64Range(0, 9).Draw(t, "sequence"), Command: drawCommand(t, s)},
			}
			data, err := EncodeEntries(entries)
			must.Do(t, err)
			decoded, err := DecodeEntries(data)
			if err != nil || len(decoded) != len(entries) {
				t.Fatalf("%d entries decoded: %v", len(decoded), err)
			}
			for i := range entries {
				delta, err := s.Apply(entries[i])
				twinDelta, twinErr := twin.Apply(decoded[i])
				if fmt.Sprint(err, delta) != fmt.Sprint(twinErr, twinDelta) {
					t.Fatalf("%+v: %v %+v, decoded: %v %+v", entries[i], err, delta, twinErr, twinDelta)
				}
			}
			loadSplits(s, twin)
		}
		if dump(s) != dump(twin) {
			t.Fatal("the decoded entries give another state")
		}
	})
}

func TestMalformedEntriesAreExplained(t *testing.T) {
	record := func(r entryRecord) []byte {
		data, err := encoding.Marshal([]entryRecord{r})
		must.Do(t, err)
		return append([]byte{entriesVersion}, data...)
	}
	later, err := encoding.Marshal(map[string]any{"Name": "fifo", "Since": 3})
	must.Do(t, err)
	for want, data := range map[string][]byte{
		"no entries in 0 bytes":                          nil,
		"format 2: this version of hammr reads format 3": {2},
		"EOF": {entriesVersion},
		`command "jump": this version of hammr does not know it`: record(entryRecord{Verb: "jump", Command: []byte{0xa0}}),
		"command set_policy": record(entryRecord{Verb: "set_policy", Command: later}),
	} {
		if _, err := DecodeEntries(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%x: %v, want %q", data, err, want)
		}
	}
	if _, err := EncodeEntries([]Entry{{}}); err == nil || !strings.Contains(err.Error(), "has no name in a log") {
		t.Errorf("an entry without a command: %v", err)
	}
}

func FuzzDecodeEntries(f *testing.F) {
	data, err := EncodeEntries(filledEntries(f))
	must.Do(f, err)
	f.Add(data)
	f.Add([]byte{entriesVersion, 0x80})
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := DecodeEntries(data)
		if err != nil {
			return
		}
		again, err := EncodeEntries(entries)
		must.Do(t, err)
		twice, err := DecodeEntries(again)
		must.Do(t, err)
		if last, err := EncodeEntries(twice); err != nil || !bytes.Equal(last, again) {
			t.Errorf("entries change when they are read again: %v", err)
		}
	})
}

// TestModesInLogsAndSnapshots preempts an attempt by each mode. A log and a snapshot keep
// the mode.
func TestModesInLogsAndSnapshots(t *testing.T) {
	for _, mode := range preempt.AllModes.Modes() {
		t.Run(string(mode), func(t *testing.T) {
			s, j := busy(t)
			a := j.Stages[0].Tasks[0].Attempts[0]
			entry := Entry{At: 5, Command: PreemptAttempt{Attempt: a.ID, Mode: mode, Cause: "a test"}}
			log, err := EncodeEntries([]Entry{entry})
			must.Do(t, err)
			read, err := DecodeEntries(log)
			if err != nil || !reflect.DeepEqual(read, []Entry{entry}) {
				t.Fatalf("the log has %+v, %v; want %+v", read, err, entry)
			}
			if _, err := s.Apply(read[0]); err != nil {
				t.Fatal(err)
			}
			again := restored(t, encoded(t, s)).jobs[0].Stages[0].Tasks[0].Attempts[0]
			if again.State != a.State || again.PreemptMode != a.PreemptMode {
				t.Errorf("the snapshot has an attempt %v by %q, want %v by %q", again.State, again.PreemptMode, a.State, a.PreemptMode)
			}
		})
	}
}
