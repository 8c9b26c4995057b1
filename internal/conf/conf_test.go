package conf

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// mustSet sets properties given as name=value.
func mustSet(t testing.TB, c *Conf, properties ...string) (warnings []string) {
	t.Helper()
	for _, p := range properties {
		name, text, _ := strings.Cut(p, "=")
		w, err := c.Set(name, text)
		must.Do(t, err)
		warnings = append(warnings, w...)
	}
	return warnings
}

// TestTable checks what the getters rely on. Each default has its property's kind and is
// within its bounds, and no two properties share a name.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range all {
		for _, name := range append([]string{k.Name}, k.Aliases...) {
			if seen[name] {
				t.Errorf("%s is declared twice", name)
			}
			seen[name] = true
		}
		if err := k.check(k.Default); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		if err := k.checkRange(k.Default); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		if k.Doc == "" || strings.Contains(k.Doc, "\n") {
			t.Errorf("%s has the doc %q", k.Name, k.Doc)
		}
	}
	if keys := Keys(); len(keys) != len(all) || !slices.IsSortedFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("Keys are not all, or not sorted")
	}
}

// TestNamesAreDeclared reads the constants of names.go. Each must name a declared property.
func TestNamesAreDeclared(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	must.Do(t, err)
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok {
			found++
			if name, err := strconv.Unquote(literal.Value); err != nil || table[name] == nil {
				t.Errorf("%s is not declared in keys.go", literal.Value)
			}
		}
		return true
	})
	if found == 0 {
		t.Error("no names found")
	}
}

// TestPropertiesAreReadOrRefused searches the code for each declared property, by its
// constant in names.go or by its name. A property that no code reads must be refused, or
// ignored with a warning. Otherwise it would be accepted without effect.
func TestPropertiesAreReadOrRefused(t *testing.T) {
	constants := constantsOfNames(t)
	read := make(map[string]bool)
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return filepath.SkipDir
		case d.IsDir() || filepath.Dir(path) == filepath.Join(root, "internal", "conf") || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		return namesRead(path, constants, read)
	})
	must.Do(t, err)
	for _, name := range []string{"dfs.nameservices"} { // read by NameNodes in package conf
		read[name] = true
	}
	for _, k := range all {
		if !read[k.Name] && k.Unsupported == "" && k.Ignored == "" {
			t.Errorf("%s is declared, and no code reads it: implement it, or mark it unsupported", k.Name)
		}
	}
}

// constantsOfNames maps each constant of names.go to the property that it names.
func constantsOfNames(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	must.Do(t, err)
	constants := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			constants[spec.Names[0].Name], _ = strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		}
		return true
	})
	return constants
}

// namesRead adds the properties that a source file names to the map read.
func namesRead(path string, constants map[string]string, read map[string]bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil {
				read[text] = true
			}
		case *ast.SelectorExpr:
			if p, ok := n.X.(*ast.Ident); ok && p.Name == "conf" {
				read[constants[n.Sel.Name]] = true
			}
		}
		return true
	})
	return nil
}

// TestUnsupportedPropertiesAreRefused sets properties of Hadoop that Hammr does not
// implement. They are accepted if the value is the default or matches what Hammr does
// anyway.
func TestUnsupportedPropertiesAreRefused(t *testing.T) {
	for property, want := range map[string]string{
		"mapreduce.shuffle.ssl.enabled=true":                 "mapreduce.shuffle.ssl.enabled=true: not supported: map output travels unencrypted; keep the cluster on a private network; leave it at its default, false",
		"mapreduce.shuffle.ssl.enabled= FALSE":               "",
		"mapreduce.job.acl-view-job=ann staff":               "not supported: jobs have no access lists",
		"mapreduce.job.acl-view-job=*":                       "",
		"mapreduce.job.acl-modify-job=":                      "not supported: jobs have no access lists",
		"mapreduce.job.tags=nightly":                         "not supported: jobs cannot be listed by tag",
		"mapreduce.client.output.filter=none":                "",
		"mapreduce.client.output.filter=ALL":                 "not supported: programs print failed attempts",
		"mapreduce.reduce.input.buffer.percent=0":            "",
		"mapreduce.client.progressmonitor.pollinterval=1000": "",
	} {
		c := New()
		mustSet(t, c, property)
		err := c.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", property, err, want)
		}
	}
}

// TestRenamedPropertiesWarn checks that old names of Hammr's properties are accepted with a
// warning, from the command line and from site files.
func TestRenamedPropertiesWarn(t *testing.T) {
	for _, typed := range []bool{true, false} {
		c := New()
		warnings, err := c.set("hammr.jobmaster.heartbeat", value{text: "2s"}, typed)
		if err != nil || c.Duration(MasterElectionTimeout) != 2*time.Second {
			t.Errorf("election timeout %v, error %v", c.Duration(MasterElectionTimeout), err)
		}
		want := []string{"hammr.jobmaster.heartbeat is deprecated. Instead, use hammr.jobmaster.election.timeout"}
		if !slices.Equal(warnings, want) {
			t.Errorf("warnings %q, want %q", warnings, want)
		}
	}
}

func TestDefaults(t *testing.T) {
	c := New()
	if c.Int("mapreduce.task.io.sort.mb") != 100 || c.Int("mapreduce.task.io.sort.factor") != 128 ||
		c.Float("mapreduce.map.sort.spill.percent") != 0.8 || c.Bool("mapreduce.map.output.compress") ||
		c.Bytes("dfs.blocksize") != 128<<20 || c.Duration("mapreduce.task.timeout") != 10*time.Minute ||
		c.Duration("hammr.tasknode.expiry") != 10*time.Second || c.String("fs.defaultFS") != "file:///" ||
		c.String("mapreduce.output.textoutputformat.separator") != "\t" || len(c.Strings("mapreduce.job.tags")) != 0 {
		t.Error("a default is not what the table says")
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if set := c.Map(); len(set) != 0 {
		t.Errorf("set: %v", set)
	}
}

func TestSetAndGet(t *testing.T) {
	c := New()
	warnings := mustSet(t, c, "io.sort.mb= 200 ", "dfs.blocksize=1m", "mapreduce.task.timeout=90s", "my.own=x=y ",
		"mapreduce.map.output.compress=TRUE", "mapreduce.job.tags= a, b,,c ", "mapreduce.output.textoutputformat.separator= ")
	want := []string{"io.sort.mb is deprecated. Instead, use mapreduce.task.io.sort.mb"}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings %q, want %q", warnings, want)
	}
	if c.Int("mapreduce.task.io.sort.mb") != 200 || c.Bytes("dfs.blocksize") != 1<<20 || c.Duration("mapreduce.task.timeout") != 90*time.Second ||
		c.String("my.own") != "x=y " || !c.Bool("mapreduce.map.output.compress") || c.String("mapreduce.output.textoutputformat.separator") != " " {
		t.Errorf("got %v", c.Map())
	}
	if got := c.Strings("mapreduce.job.tags"); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("list %q", got)
	}
	if _, ok := c.Lookup("my.other"); ok || c.String("my.other") != "" || c.IsSet("my.other") || !c.IsSet("io.sort.mb") {
		t.Error("a property that is not set is")
	}
}

func TestSetErrors(t *testing.T) {
	for property, want := range map[string]string{
		"mapreduce.job.reduces=abc":                 "mapreduce.job.reduces=abc: expected a whole number, and abc is not; the default is 1",
		"io.sort.mb=1.5":                            "io.sort.mb=1.5: expected a whole number, and 1.5 is not; the default is 100",
		"dfs.blocksize=12q":                         "expected a size in bytes (suffixes k, m, g, t), and 12q is not; the default is 134217728",
		"mapreduce.task.timeout=":                   "and empty is not; the default is 600000",
		"mapreduce.map.output.compress=yes":         "expected true or false, and yes is not; the default is false",
		"mapreduce.map.sort.spill.percent=NaN":      "expected a number, and NaN is not",
		"mapreduce.job.reduces=9223372036854775808": "expected a whole number",
		"hammr.tasknode.expire=1":                   "hammr.tasknode.expire=1: unknown property; did you mean hammr.tasknode.expiry?",
		"=x":                                        "property without a name has the value x",
	} {
		name, text, _ := strings.Cut(property, "=")
		c := New()
		if _, err := c.Set(name, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", property, err, want)
		}
		if len(c.Map()) != 0 {
			t.Errorf("%s was set all the same", property)
		}
	}
}

func TestSetWarnings(t *testing.T) {
	for property, want := range map[string]string{
		"mapreduce.job.reduce=1":                                  "mapreduce.job.reduce is not a property that is read here; did you mean mapreduce.job.reduces?",
		"mapreduce.fileoutputcommitter.algorithm.version=2":       "is ignored",
		"mapreduce.fileoutputcommitter.algorithm.version=1":       "",
		"mapreduce.jobhistory.address=h:1":                        "",
		"mapred.output.compress=true":                             "Instead, use mapreduce.output.fileoutputformat.compress",
		"mapreduce.input.fileinputformat.inputdir.recursive=true": "Instead, use mapreduce.input.fileinputformat.input.dir.recursive",
	} {
		warnings := mustSet(t, New(), property)
		if want == "" && len(warnings) != 0 || want != "" && (len(warnings) != 1 || !strings.Contains(warnings[0], want)) {
			t.Errorf("%s: %q, want %q", property, warnings, want)
		}
	}
}

func TestValidateReportsAll(t *testing.T) {
	c := New()
	mustSet(t, c, "mapreduce.job.reduces=-1", "io.sort.mb=2048", "mapreduce.map.sort.spill.percent=0", "mapreduce.task.io.sort.factor=1",
		"mapreduce.task.timeout=-5", "mapreduce.job.priority=URGENT", "mapreduce.input.fileinputformat.split.minsize=10",
		"mapreduce.input.fileinputformat.split.maxsize=5")
	err := c.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"mapreduce.job.reduces=-1: expected 0 to 1000000; the default is 1",
		"mapreduce.task.io.sort.mb=2048: expected 1 to 2047; the default is 100",
		"mapreduce.map.sort.spill.percent=0: expected more than 0 and at most 1; the default is 0.80",
		"mapreduce.task.io.sort.factor=1: expected 2 to 100000; the default is 128",
		"mapreduce.task.timeout=-5: expected at least 0; the default is 600000",
		"mapreduce.job.priority=URGENT: expected one of VERY_HIGH, HIGH,",
		"split.minsize=10: expected at most mapreduce.input.fileinputformat.split.maxsize, which is 5",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from:\n%v", want, err)
		}
	}
	ok := New()
	mustSet(t, ok, "mapreduce.job.reduces=0", "io.sort.mb=2047", "mapreduce.map.sort.spill.percent=1", "mapreduce.job.priority=very_high",
		"mapreduce.task.timeout=0", "mapred.fairscheduler.locality.delay=-1")
	if err := ok.Validate(); err != nil {
		t.Errorf("values at the bounds: %v", err)
	}
}

// TestMap checks that a value that equals the default stays set.
func TestMap(t *testing.T) {
	c := New()
	mustSet(t, c, "dfs.blocksize=128m", "io.sort.mb=100", "mapreduce.job.reduces=3", "my.own=")
	want := map[string]string{"dfs.blocksize": "128m", SortMB: "100", "mapreduce.job.reduces": "3", "my.own": ""}
	if got := c.Map(); !maps.Equal(got, want) {
		t.Errorf("set %v, want %v", got, want)
	}
	if copied, err := FromMap(c.Map()); err != nil || !copied.IsSet(SortMB) {
		t.Errorf("a copy has lost an explicit default (%v)", err)
	}
	clone := c.Clone()
	mustSet(t, clone, "mapreduce.job.reduces=4")
	if c.Int("mapreduce.job.reduces") != 3 {
		t.Error("a clone changed its original")
	}
	if _, err := FromMap(map[string]string{"mapreduce.job.reduces": "x", "hammr.nothing": "1"}); err == nil ||
		!strings.Contains(err.Error(), "reduces=x") || !strings.Contains(err.Error(), "hammr.nothing") {
		t.Errorf("two faults: %v", err)
	}
}

// TestCopyIsLossless copies a configuration by way of Map.
func TestCopyIsLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := New()
		for name, text := range rapid.MapOf(rapid.StringMatching(`my\.[a-z.]{1,8}`), rapid.String()).Draw(t, "own") {
			if _, err := c.Set(name, text); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Set("mapreduce.job.reduces", rapid.StringMatching(" ?[0-9]{1,5} ?").Draw(t, "reduces")); err != nil {
			t.Fatal(err)
		}
		again, err := FromMap(c.Map())
		must.Do(t, err)
		if !maps.Equal(again.Map(), c.Map()) || again.Int("mapreduce.job.reduces") != c.Int("mapreduce.job.reduces") {
			t.Errorf("copied %v to %v", c.Map(), again.Map())
		}
	})
}

func TestUndeclaredGetterPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New().Int("dfs.blocksize")
}

// TestDistance compares distance with its recursive definition, computed without a table.
func TestDistance(t *testing.T) {
	var naive func(a, b string) int
	naive = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		replaced := naive(a[1:], b[1:])
		if a[0] != b[0] {
			replaced++
		}
		return min(replaced, naive(a[1:], b)+1, naive(a, b[1:])+1)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching("[ab]{0,5}")
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if got, want := distance(a, b), naive(a, b); got != want {
			t.Errorf("%q to %q: %d, want %d", a, b, got, want)
		}
	})
}

// TestPropertiesOfAJobAreNotCompared reads a job's own property, as each of its tasks does. The names of
// Hadoop's properties that are near to it are for users who type it.
func TestPropertiesOfAJobAreNotCompared(t *testing.T) {
	properties := map[string]string{"mapreduce.sleepjob.map.sleep.times": "1", "mapreduce.job.nmae": "x"}
	if allocations := testing.AllocsPerRun(10, func() {
		if _, err := FromMap(properties); err != nil {
			t.Fatal(err)
		}
	}); allocations > 20 {
		t.Errorf("%v allocations for two properties", allocations)
	}
	if warnings, err := New().Set("mapreduce.job.nmae", "x"); err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "mapreduce.job.name") {
		t.Errorf("%q, %v", warnings, err)
	}
}
