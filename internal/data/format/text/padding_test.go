package text

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/storage"
)

// TestWhatFollowsTheLastMember appends bytes to a gzip member and to a bzip2 stream. Zero padding up to
// the end of the file is accepted, and all else is an error with the file's name and the offset of the
// first byte that is wrong: a second member behind padding too, which the programs drop with a warning
// at most. Both compressed readers and ranges of any length agree.
func TestWhatFollowsTheLastMember(t *testing.T) {
	const line = "one\n"
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	for _, program := range []string{"gzip", "bzip2"} {
		name, magic := "/f.gz", len("\x1f\x8b")
		if program == "bzip2" {
			name, magic = "/f.bz2", len("BZh")
		}
		one := string(packed(t, name, []byte(line)))
		for _, c := range []struct {
			does    string
			follows string
			want    string // plain bytes, or
			at      int    // the first wrong byte, from the end of the first member on; cutOff: anywhere in the rest
			program string // what the program reads; "-": it fails, "?": it may
		}{
			{"nothing", "", line, 0, line},
			{"1 zero byte", zeros(1), line, 0, line},
			{"511 zero bytes", zeros(511), line, 0, line},
			{"512 zero bytes", zeros(512), line, 0, line},
			{"100,000 zero bytes", zeros(100_000), line, 0, line},
			{"1,000,000 zero bytes", zeros(1_000_000), line, 0, line},
			{"a member", one, line + line, 0, line + line},
			{"a member and zero bytes", one + zeros(512), line + line, 0, line + line},
			{"a member behind a zero byte", zeros(1) + one, "", 1, line},
			{"a member behind zero bytes", zeros(512) + one, "", 512, line},
			{"a member behind more than a buffer", zeros(300_000) + one, "", 300_000, line},
			{"a byte behind zero bytes", zeros(511) + "x", "", 511, line},
			{"a byte behind more than a buffer", zeros(300_000) + "x" + zeros(100), "", 300_000, line},
			{"a byte", "x" + zeros(20), "", 0, line},
			{"text", "two\nthree\n", "", 0, line},
			{"a cut magic", one[:1], "", cutOff, "?"},
			{"a cut header", one[:magic+1], "", cutOff, "-"},
			{"a cut member", one[:len(one)-1], "", cutOff, "-"},
		} {
			t.Run(program+" "+c.does, func(t *testing.T) {
				file := []byte(one + c.follows)
				check := func(reader, got string, err error) {
					t.Helper()
					if c.want != "" && (err != nil || got != c.want) || c.want == "" && !isDamage(err, path.Base(name), len(one), c.at, len(file)) {
						t.Errorf("%s: %q, %v", reader, got, err)
					}
				}
				plain, err := io.ReadAll(compress.NewReader(path.Base(name), bytes.NewReader(file)))
				check("compress", string(plain), err)
				o := put(t, name, file)
				got, err := linesOf(o)
				check("lines", got, err)
				if program == "bzip2" {
					for _, cut := range []int{1, len(one) - 1, len(one), len(one) + 1, len(file) - 1} {
						got, err := linesOf(o, int64(min(cut, len(file)-1)))
						check(fmt.Sprintf("lines, cut at byte %d", cut), got, err)
					}
				}
				compareProgram(t, program, file, c.program)
			})
		}
	}
}

// cutOff is for files that end within a member: the offset is that of the member, or the end.
const cutOff = -1

// isDamage reports whether err names a file and the byte at behind the first member; or, for cutOff, any
// byte behind it.
func isDamage(err error, name string, first, at, size int) bool {
	if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), name+": ") {
		return false
	}
	found := offset.FindStringSubmatch(err.Error())
	if found == nil {
		return false
	}
	n, err := strconv.Atoi(found[1])
	return err == nil && (n == first+at || at == cutOff && n >= first && n <= size)
}

// offset is an offset in an error.
var offset = regexp.MustCompile(`(?:byte|after) (\d+)`)

// linesOf reads the lines of a file in ranges that end at the cuts and at the end of the file.
func linesOf(o format.Open, cuts ...int64) (string, error) {
	var all strings.Builder
	start := o.Range.Start
	for _, cut := range append(cuts, o.Size) {
		o.Range = dag.Range{Start: start, End: dag.Position{Offset: cut}}
		records, err := tryAll(Lines(Options{}), o)
		for _, r := range records {
			all.WriteString(r.value + "\n")
		}
		if err != nil {
			return all.String(), err
		}
		start = o.Range.End
	}
	return all.String(), nil
}

// compareProgram checks what a program reads of a file: want, "-" if it fails, "?" if that depends on
// its version.
func compareProgram(t *testing.T, program string, file []byte, want string) {
	t.Helper()
	tool, err := exec.LookPath(program)
	if err != nil || want == "?" {
		return
	}
	cmd := exec.Command(tool, "-dc")
	cmd.Stdin = bytes.NewReader(file)
	got, err := cmd.Output()
	var exit *exec.ExitError
	failed := errors.As(err, &exit) && !(program == "gzip" && exit.ExitCode() == 2) // 2 is a warning
	if failed != (want == "-") || !failed && string(got) != want {
		t.Errorf("%s: %q, %v", program, got, err)
	}
}
