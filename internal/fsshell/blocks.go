package fsshell

import (
	"strings"
)

// blocks prints where a file is stored: a line with its name, and a line for each block with
// offset, length and hosts, separated by tabs. Hosts are separated by commas; "-" means any
// host.
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
