package fsshell

import (
	"strings"
)

// blocks shows where a file lies: a line that names it, and one for each block
// with offset, length and hosts, separated by tabs. Hosts are separated by
// commas and - where any is as good.
func blocks(s *shell, _ invocation, it item) error {
	if it.isDir() {
		return isDirectory(it.name)
	}
	found, err := it.fs.Blocks(s.ctx, it.path, 0, it.info.Size)
	if err != nil {
		return err
	}
	s.printf("%s: %d bytes, %d blocks\n", it.name, it.info.Size, len(found))
	for _, b := range found {
		hosts := "-"
		if len(b.Hosts) > 0 {
			hosts = strings.Join(b.Hosts, ",")
		}
		s.printf("%d\t%d\t%s\n", b.Offset, b.Length, hosts)
	}
	return nil
}
