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

// Quote returns a text as one word of a POSIX shell.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
