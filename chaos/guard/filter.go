package guard

import (
	"fmt"
	"strings"
)

// Results of filters.
const (
	nextFilter = 0xffffffff // with direct action; without it, the class of the filter
	drop       = 2
	noClass    = 0
)

// filterProgram is a program of classic BPF as tc reads it: CODE YES NO K, where YES and NO are how many
// instructions a jump skips. Offsets from 4293918720 on are in the network header, 4294963200 is the
// protocol of the packet, and 4294963256 a random number. (bpf(2); "tc-bpf bytecode".)
//
// Exempt are all that are neither IPv4 nor IPv6, such as ARP, ICMPv6, which finds neighbours, and
// TCP with the port of ssh at either end. Of the rest, a part is exempt at random.
const filterProgram = `
40 0 0 4294963200        load the protocol
21 1 0 2048              IPv4
21 9 20 34525            IPv6; others are exempt
48 0 0 4293918729  IPv4: load the protocol of its payload
21 0 14 6                TCP, or it is of the rest
40 0 0 4293918726        load the offset of the fragment
69 12 0 8191             a later fragment has no ports: of the rest
177 0 0 4293918720       X = length of the header
72 0 0 4293918720        load the port of the sender
21 13 0 PORT             exempt
72 0 0 4293918722        load the port of the receiver
21 11 7 PORT             exempt, or of the rest
48 0 0 4293918726  IPv6: load the next header
21 9 0 58                ICMPv6 is exempt
21 0 4 6                 TCP, or it is of the rest
40 0 0 4293918760        load the port of the sender
21 6 0 PORT              exempt
40 0 0 4293918762        load the port of the receiver
21 4 0 PORT              exempt
32 0 0 4294963256  rest: load a random number
148 0 0 100              modulo 100
53 1 0 LOSS              exempt if it is as large as the loss in per cent
6 0 0 OTHER
6 0 0 EXEMPT
`

// sshFilter returns the program that returns exempt for packets that keep ssh at a port working, and
// other for lossPercent of the rest.
func sshFilter(port, lossPercent int, exempt, other uint32) string {
	values := strings.NewReplacer("PORT", fmt.Sprint(port), "LOSS", fmt.Sprint(lossPercent), "OTHER", fmt.Sprint(other), "EXEMPT", fmt.Sprint(exempt))
	var program []string
	for line := range strings.Lines(strings.TrimSpace(filterProgram)) {
		program = append(program, strings.Join(strings.Fields(values.Replace(line))[:4], " "))
	}
	return fmt.Sprintf("%d,%s", len(program), strings.Join(program, ","))
}
