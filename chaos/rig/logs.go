package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// LogEnds are the last so many bytes of each daemon's log, for people.
func (r *Rig) LogEnds(size int) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(r.cfg.Dir, "logs", "*")) // the pattern is in order
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || len(text) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n%s\n", filepath.Base(file), text[max(0, len(text)-size):])
	}
	return b.String()
}
