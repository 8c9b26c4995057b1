package examples

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/broadcastjoin"
	"github.com/hammr/hammr/examples/distinct"
	"github.com/hammr/hammr/examples/grep"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/join"
	"github.com/hammr/hammr/examples/sort"
	"github.com/hammr/hammr/examples/topn"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// hostileText returns about n bytes that programs for text may trip over: random bytes with NUL, bytes
// that are not UTF-8, marks of byte order and separators that only some know, lines that end with LF,
// CR LF or CR, empty lines, and now and then a very long line or word. It has neither a final newline nor
// a tab.
func hostileText(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 0))
	parts := []string{
		"a", "b", "c", "abc", " ", " ", "  ", "\n", "\n", "\n\n", "\r\n", "\r", "\r\r\n", "\x00", "\xff", "\xc3", "\ufeff", "\u00e9", "\U0001F600",
		"\u00a0", "\u2028", "\u0085", "\v", "\f", "\x1a", "\x7f", "\\", "'", "\"", "%s", "--", "1", "-0", "A",
	}
	var b strings.Builder
	b.WriteString("\ufeff")
	for b.Len() < n {
		switch k := random.IntN(10_000); {
		case k < 2:
			b.WriteString(strings.Repeat(parts[random.IntN(5)], 20_000+random.IntN(60_000)))
		case k < 1000:
			if c := byte(random.IntN(256)); c != '\t' {
				b.WriteByte(c)
			}
		default:
			b.WriteString(parts[random.IntN(len(parts))])
		}
	}
	b.WriteString("end")
	return b.String()
}

// asLines returns a file with the lines that mr.TextLines reads, each ended by LF, as the tools expect: a
// byte-order mark is not part of the first line, and CR LF and CR end lines.
func asLines(file string) string {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(file, "\ufeff"))
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// tables are inputs for joins: lines of key, tab and value. Some lines have no tab, and some keys and
// values are empty.
func tables(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for i, line := range strings.Split(asLines(hostileText(seed, n)), "\n") {
		line = strings.TrimPrefix(line, "\ufeff") // join sorts the first line elsewhere
		at := random.IntN(min(len(line), 3) + 1)
		b.WriteString(line[:at])
		if random.IntN(10) > 0 {
			b.WriteByte('\t')
		}
		b.WriteString(line[at:])
		fmt.Fprintf(&b, "%d\n", i)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestProgramsLikeCoreutils compares the bundled programs with pipelines of coreutils and grep over
// hostile texts, under all variants of how the work is divided. The programs divide their output into
// parts, so lines are compared in order of their bytes, but for the programs with a total order.
func TestProgramsLikeCoreutils(t *testing.T) {
	for _, tool := range []string{"sh", "sort", "uniq", "tr", "grep", "join", "head", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("nothing to compare with: %v", err)
		}
	}
	const words = `tr -s ' \t\n\r\f' '\n' <LEFT | sort | sed '/^$/d' | uniq -c | `
	const ranked = `sort -k1,1nr -k2,2`
	for _, c := range []struct {
		name    string
		program *mr.Program
		before  []string // arguments before the inputs
		after   []string // and after the output
		table   bool     // two inputs of key and value
		ordered bool     // the output has a total order
		// pipeline writes the expected lines. LEFT and RIGHT are the inputs with lines that end with LF.
		pipeline string
		line     func(string) string // turns a line of the pipeline into one of the program; nil for no change
	}{
		{name: "wordcount", program: wordcount.Program(), pipeline: words + "cat", line: countBehind},
		{name: "distinct", program: distinct.Program(), pipeline: "sort -u LEFT"},
		{name: "sort", program: sort.Program(), before: []string{"-r", "3"}, pipeline: "sort RAW"},
		{name: "grep a class", program: grep.Program(), after: []string{"[a-c]+"}, ordered: true,
			pipeline: "grep -aoE '[a-c]+' LEFT | sort | uniq -c | " + ranked, line: countBefore},
		{name: "grep what a class lacks", program: grep.Program(), after: []string{"[^ abc\v\f]+"}, ordered: true,
			pipeline: "grep -aoE '[^ abc\v\f]+' LEFT | sort | uniq -c | " + ranked, line: countBefore},
		{name: "grep at the end of lines", program: grep.Program(), after: []string{"[a-c]+$"}, ordered: true,
			pipeline: "grep -aoE '[a-c]+$' LEFT | sort | uniq -c | " + ranked, line: countBefore},
		{name: "topn", program: topn.Program(), before: []string{"50"}, ordered: true, pipeline: words + ranked + " | head -n 50", line: countBehind},
		{name: "join", program: join.Program(), table: true, pipeline: joinPipeline},
		{name: "broadcastjoin", program: broadcastjoin.Program(), before: []string{"-unsorted"}, table: true, pipeline: joinPipeline},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw := []string{hostileText(7, 300_000)}
			if c.table {
				raw = []string{tables(8, 20_000), tables(9, 60_000)}
			}
			var inputs []string
			replace := []string{"RAW", "raw"}
			dir := t.TempDir()
			for i, text := range raw {
				inputs = append(inputs, mrtest.File(t, fmt.Sprint("in", i), text))
				name := []string{"LEFT", "RIGHT"}[i]
				replace = append(replace, name, strings.ToLower(name))
				write(t, filepath.Join(dir, strings.ToLower(name)), asLines(text))
			}
			write(t, filepath.Join(dir, "raw"), raw[0])
			want := pipe(t, dir, strings.NewReplacer(replace...).Replace(c.pipeline))
			if c.line != nil {
				var b strings.Builder
				for line := range strings.Lines(want) {
					b.WriteString(c.line(strings.TrimSuffix(line, "\n")) + "\n")
				}
				want = b.String()
			}
			if strings.Count(want, "\n") < 10 {
				t.Fatalf("the pipeline writes %q", want)
			}
			got := extest.UnderAllVariants(t, c.program, func(out string) []string {
				return append(append(append(append([]string(nil), c.before...), inputs...), out), c.after...)
			})
			if !c.ordered {
				got, want = sortLines(got), sortLines(want)
			}
			extest.Equal(t, got, want)
		})
	}
}

// joinPipeline writes key, left and right value for each pair of lines. An absent value is an empty one.
const joinPipeline = `T=$(printf '\t'); sort -t "$T" -k1,1 LEFT >l; sort -t "$T" -k1,1 RIGHT >r; join -t "$T" -e '' -o 0,1.2,2.2 l r`

// countBehind turns a line of uniq -c into word, tab and count.
func countBehind(line string) string {
	count, word, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	return word + "\t" + count
}

// countBefore turns a line of uniq -c into count, tab and word.
func countBefore(line string) string {
	count, word, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	return count + "\t" + word
}

// write writes a file.
func write(t *testing.T, name, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
}

// pipe runs a pipeline in a directory, by bytes, and returns its output.
func pipe(t *testing.T, dir, pipeline string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", pipeline)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%s: %v: %s", pipeline, err, &stderr)
	}
	return string(out)
}
