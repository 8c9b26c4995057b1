package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Distribution is a probability distribution of times, sizes or counts.
type Distribution struct {
	kind *distributionKind // nil draws 0
	args []float64
}

// distributionKind is a family of distributions. Each draws by inversion of one uniform
// number, so that equal seeds give correlated numbers when an argument changes.
//
// With inversion the same seed gives the same ranks: a job that is among the largest stays
// there when a mean changes, so that two runs of the simulator are comparable.
type distributionKind struct {
	name  string
	usage string
	unit  []bool // of each argument: whether it has the unit of what is drawn
	least int    // required arguments
	check func(a []float64) string
	draw  func(a []float64, u float64) float64
}

// Formulas are the quantile functions of the textbooks, scaled so that MEAN is the mean.
// For lognormal that takes the factor exp(-σ²/2), for Weibull 1/Γ(1+1/k).
var distributionKinds = []distributionKind{
	{"const", "const:VALUE", []bool{true}, 1, nil,
		func(a []float64, u float64) float64 { return a[0] }},
	{"uniform", "uniform:LEAST:MOST", []bool{true, true}, 2, leastMost(0),
		func(a []float64, u float64) float64 { return a[0] + u*(a[1]-a[0]) }},
	{"exp", "exp:MEAN", []bool{true}, 1, nil,
		func(a []float64, u float64) float64 { return -a[0] * math.Log1p(-u) }},
	{"pareto", "pareto:ALPHA:LEAST[:MOST]", []bool{false, true, true}, 2, checkPareto, drawPareto},
	{"lognormal", "lognormal:MEAN:SIGMA", []bool{true, false}, 2, checkSigma,
		func(a []float64, u float64) float64 { return a[0] * lognormal(a[1], u) }},
	{"weibull", "weibull:MEAN:SHAPE", []bool{true, false}, 2, checkShape,
		func(a []float64, u float64) float64 {
			return a[0] / math.Gamma(1+1/a[1]) * math.Pow(-math.Log1p(-u), 1/a[1])
		}},
}

// leastMost checks that argument i is not above the next one.
func leastMost(i int) func([]float64) string {
	return func(a []float64) string {
		if len(a) > i+1 && a[i+1] < a[i] {
			return "LEAST above MOST"
		}
		return ""
	}
}

// A truncated distribution with a
// tiny ALPHA is nearly log-uniform.
func checkPareto(a []float64) string {
	if a[0] < 0.01 || a[1] <= 0 {
		return "ALPHA below 0.01 or LEAST of 0"
	}
	return leastMost(1)(a)
}

// checkSigma bounds the argument of lognormal, see maxSigma.
func checkSigma(a []float64) string {
	if a[1] > maxSigma {
		return fmt.Sprintf("SIGMA above %d", maxSigma)
	}
	return ""
}

// checkShape keeps Γ(1+1/SHAPE) within the range of a float64.
func checkShape(a []float64) string {
	if a[1] < 0.1 {
		return "SHAPE below 0.1"
	}
	return ""
}

// drawPareto truncates at MOST and keeps the shape below it. The quantile function of a
// Pareto distribution over [LEAST, MOST] is
//
//	LEAST · (1 - u·(1 - (LEAST/MOST)^ALPHA))^(-1/ALPHA)
//
// and MOST is infinite if it is not given.
func drawPareto(a []float64, u float64) float64 {
	beyond := 0.0
	if len(a) > 2 {
		beyond = math.Pow(a[1]/a[2], a[0])
	}
	return a[1] * math.Pow(1-u*(1-beyond), -1/a[0])
}

// draw returns the next number. It takes exactly one number of r.
func (l Distribution) draw(r *rand.Rand) float64 {
	if l.kind == nil {
		return 0
	}
	return l.kind.draw(l.args, openUnit(r.Uint64()))
}

// parseDistribution parses a text like pareto:1.5:1:500. The function parse reads numbers with
// a unit. It is the parser of times or of sizes. Arguments such as ALPHA have no unit and are
// parsed without it.
func parseDistribution(text string, parse func(string) (float64, error)) (Distribution, error) {
	parts := strings.Split(text, ":")
	for i := range distributionKinds {
		if k := &distributionKinds[i]; k.name == parts[0] {
			args, err := k.parse(parts[1:], parse)
			if err != nil {
				return Distribution{}, fmt.Errorf("%q: %w, expected %s", text, err, k.usage)
			}
			return Distribution{k, args}, nil
		}
	}
	var usages []string
	for _, k := range distributionKinds {
		usages = append(usages, k.usage)
	}
	return Distribution{}, fmt.Errorf("distribution %q, expected one of %s", text, strings.Join(usages, ", "))
}

// parse reads the arguments, of which some may be optional, and checks them together.
func (k *distributionKind) parse(parts []string, parse func(string) (float64, error)) ([]float64, error) {
	if len(parts) < k.least || len(parts) > len(k.unit) {
		return nil, fmt.Errorf("%d numbers", len(parts))
	}
	args := make([]float64, len(parts))
	for i, text := range parts {
		read := parse
		if !k.unit[i] {
			read = parsePlain
		}
		var err error
		if args[i], err = read(text); err != nil {
			return nil, err
		}
	}
	if k.check != nil {
		if fault := k.check(args); fault != "" {
			return nil, fmt.Errorf("%s", fault)
		}
	}
	return args, nil
}

// parsePlain parses a finite number that is not negative.
func parsePlain(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= math.MaxInt64) {
		return 0, fmt.Errorf("number %q, expected 0 or more", text)
	}
	return x, nil
}

// parseMillis parses a time like 13s, 1m30s or 500ms, into ms. A bare number is in ms.
func parseMillis(text string) (float64, error) {
	if x, err := strconv.ParseFloat(text, 64); err == nil && x >= 0 && x <= MaxMillis {
		return x, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d.Milliseconds() > MaxMillis {
		return 0, fmt.Errorf("time %q, expected one like 13s, 1m30s or 500 (ms)", text)
	}
	return d.Seconds() * 1000, nil
}

// parseBytes parses a size like 64m into bytes; k, m and g are powers of 1024.
func parseBytes(text string) (float64, error) {
	digits, unit := strings.ToLower(text), 1.0
	for suffix, factor := range map[string]float64{"k": 1 << 10, "m": 1 << 20, "g": 1 << 30} {
		if rest, found := strings.CutSuffix(digits, suffix); found {
			digits, unit = rest, factor
			break
		}
	}
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(x >= 0 && x*unit <= MaxBytes) {
		return 0, fmt.Errorf("size %q, expected one like 64m or 512 (bytes)", text)
	}
	return x * unit, nil
}
