package examples

import (
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/examples/wordcountpipe"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestWordcountpipeWritesTheBytesOfWordcount compares the output with the output of wordcount.
func TestWordcountpipeWritesTheBytesOfWordcount(t *testing.T) {
	in := mrtest.File(t, "text", extest.Text(extest.Lines(1, 20_000)))
	args := func(out string) []string { return []string{in, out} }
	extest.Equal(t, extest.UnderAllVariants(t, wordcountpipe.Program(), args), extest.UnderAllVariants(t, wordcount.Program(), args))
}

func TestEmptyInput(t *testing.T) {
	in := mrtest.File(t, "text", "")
	if got := mrtest.Command(t, wordcountpipe.Program(), in, t.TempDir()+"/out"); got != "" {
		t.Errorf("words of an empty file: %q", got)
	}
}
