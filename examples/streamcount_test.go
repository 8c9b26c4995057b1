package examples

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/streamcount"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestStreamcountWritesTheBytesOfWordcount compares the output with the output of wordcount. The machines
// have slots for 3 tokenisers and 3 counters at once.
func TestStreamcountWritesTheBytesOfWordcount(t *testing.T) {
	in := mrtest.File(t, "text", extest.Text(extest.Lines(2, 20_000)))
	got := extest.UnderAllVariants(t, streamcount.Program(), func(out string) []string {
		return []string{"-D", streamcount.Tokenisers + "=3", "--workers=3", in, out}
	})
	want := extest.UnderAllVariants(t, wordcount.Program(), func(out string) []string { return []string{in, out} })
	extest.Equal(t, got, want)
}

// TestGangLargerThanTheMachine checks that a gang without enough slots is refused, with the
// number of slots that it needs.
func TestGangLargerThanTheMachine(t *testing.T) {
	in := mrtest.File(t, "text", "a b\n")
	got := mrtest.Exec(t, streamcount.Program(), "-D", streamcount.Tokenisers+"=3", "--workers=1", in, t.TempDir()+"/out")
	if got.Code == mr.ExitDone || !strings.Contains(got.Stderr, "3 map, 1 reduce at once") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
}

func TestStreamcountRefuses(t *testing.T) {
	extest.Refused(t, streamcount.Program(), "", "in")
	extest.Refused(t, streamcount.Program(), "at least 1", "-D", streamcount.Tokenisers+"=0", "in", "out")
	extest.Refused(t, streamcount.Program(), "at least 1", "-D", streamcount.Tokenisers+"=few", "in", "out")
}
