package hostfile

import "strings"

// DefaultShell runs commands on the machines of a hostfile. It must not ask for passwords.
const DefaultShell = "ssh -o BatchMode=yes {host}"

// ShellWords returns the words of a shell's command for a machine: {host} stands for the
// machine.
func ShellWords(shell []string, host string) []string {
	words := make([]string, len(shell))
	for i, word := range shell {
		words[i] = strings.ReplaceAll(word, "{host}", host)
	}
	return words
}

// Word returns a text as one word of a POSIX shell, quoted only if it has to be.
func Word(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,", r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return Quote(text)
}

// Quote returns a text as one word of a POSIX shell.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
