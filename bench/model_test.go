package bench

import (
	"bufio"
	"cmp"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// models are the workloads in the plainest way: everything is in memory. A result is lines
// without their newline.
var models = map[string]func(in string) []string{
	"keys":  wordcountModel,
	"pairs": pairsModel,
	"join":  joinModel, "broadcastjoin": joinModel,
	"index":    indexModel,
	"pagerank": pagerankModel, "pagerankchain": pagerankModel,
	"kmeans":     kmeansModel,
	"top100":     top100Model,
	"sessions":   sessionsModel,
	"smallfiles": wordcountModel, "gzip": wordcountModel, "zstd": wordcountModel, "bzip2": wordcountModel,
}

// writeModel computes a workload and writes its result. Errors of reading panic.
func writeModel(name, in, out string) error {
	return os.WriteFile(out, []byte(strings.Join(models[name](in), "\n")+"\n"), 0o644)
}

// filesOf returns the files of an input by name with their decompressed lines.
func filesOf(in string) map[string][]string {
	all := make(map[string][]string)
	err := filepath.WalkDir(in, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r, err := decompressed(f, filepath.Ext(name))
		s := bufio.NewScanner(r)
		for s.Scan() {
			all[filepath.Base(name)] = append(all[filepath.Base(name)], s.Text())
		}
		return errors.Join(err, s.Err())
	})
	if err != nil {
		panic(err)
	}
	return all
}

func decompressed(r io.Reader, suffix string) (io.Reader, error) {
	switch suffix {
	case ".gz":
		return gzip.NewReader(r)
	case ".zst":
		return zstd.NewReader(r)
	case ".bz2":
		return bzip2.NewReader(r), nil
	}
	return r, nil
}

// fieldsOf returns the fields of each line of an input of one file.
func fieldsOf(in string) (rows [][]string) {
	for _, lines := range filesOf(in) {
		for _, line := range lines {
			rows = append(rows, strings.Fields(line))
		}
	}
	return rows
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// counted returns lines of a key, a tab and its count.
func counted(counts map[string]int) (lines []string) {
	for key, n := range counts {
		lines = append(lines, fmt.Sprintf("%s\t%d", key, n))
	}
	return lines
}

func wordcountModel(in string) []string {
	counts := make(map[string]int)
	for _, row := range fieldsOf(in) {
		for _, word := range row {
			counts[word]++
		}
	}
	return counted(counts)
}

func pairsModel(in string) []string {
	found := make(map[string]bool)
	for _, view := range fieldsOf(in) {
		found[view[1]+"\t"+view[2]] = true
	}
	return slices.Collect(maps.Keys(found))
}

func joinModel(in string) (lines []string) {
	files := filesOf(in)
	regions := make(map[string]string)
	for _, line := range files[CustomersFile] {
		customer, region, _ := strings.Cut(line, "\t")
		regions[customer] = region
	}
	sums, orders := make(map[string]int64), make(map[string]int)
	for _, line := range files[OrdersFile] {
		order := strings.Split(line, "\t")
		if region, known := regions[order[0]]; known {
			sums[region] += number(order[1])
			orders[region]++
		}
	}
	for region, sum := range sums {
		lines = append(lines, fmt.Sprintf("%s\t%d\t%d", region, sum, orders[region]))
	}
	return lines
}

func indexModel(in string) (lines []string) {
	counts := make(map[string]map[string]int)
	for file, text := range filesOf(in) {
		for word := range strings.FieldsSeq(strings.Join(text, " ")) {
			if counts[word] == nil {
				counts[word] = make(map[string]int)
			}
			counts[word][file]++
		}
	}
	for word, files := range counts {
		for _, file := range slices.Sorted(maps.Keys(files)) {
			word += fmt.Sprintf("\t%s:%d", file, files[file])
		}
		lines = append(lines, word)
	}
	return lines
}

func pagerankModel(in string) (lines []string) {
	links, ranks := make(map[string][]string), make(map[string]float64)
	for _, edge := range fieldsOf(in) {
		links[edge[0]] = append(links[edge[0]], edge[1])
		ranks[edge[0]], ranks[edge[1]] = 1, 1
	}
	for range pagerankRounds {
		received, stranded := make(map[string]float64), 0.0
		for node, rank := range ranks {
			if len(links[node]) == 0 {
				stranded += rank
			}
			for _, target := range links[node] {
				received[target] += rank / float64(len(links[node]))
			}
		}
		for node := range ranks {
			ranks[node] = 0.15 + 0.85*(received[node]+stranded/float64(len(ranks)))
		}
	}
	for node, rank := range ranks {
		lines = append(lines, fmt.Sprintf("%s\t%.9f", node, rank))
	}
	return lines
}

// coordinates are those of a point or a centre.
type coordinates [kmeansDimensions]float64

func coordinatesOf(line string) (p coordinates) {
	for i, text := range strings.Fields(line) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(err)
		}
		p[i] = x
	}
	return p
}

// nearest returns the number of the centre that is nearest to a point.
func nearest(p coordinates, centres []coordinates) (best int) {
	least := math.Inf(1)
	for n, c := range centres {
		sum := 0.0
		for i := range p {
			sum += (p[i] - c[i]) * (p[i] - c[i])
		}
		if sum < least {
			best, least = n, sum
		}
	}
	return best
}

func kmeansModel(in string) (lines []string) {
	files := filesOf(in)
	var points, centres []coordinates
	for _, line := range files[PointsFile] {
		points = append(points, coordinatesOf(line))
	}
	for _, line := range files[CentresFile] {
		centres = append(centres, coordinatesOf(line))
	}
	counts := make([]int, len(centres))
	for range kmeansRounds {
		sums := make([]coordinates, len(centres))
		clear(counts)
		for _, p := range points {
			n := nearest(p, centres)
			counts[n]++
			for i := range p {
				sums[n][i] += p[i]
			}
		}
		for n, count := range counts {
			for i := range kmeansDimensions {
				if count > 0 {
					centres[n][i] = sums[n][i] / float64(count)
				}
			}
		}
	}
	for n, c := range centres {
		at := strings.Trim(fmt.Sprint(c), "[]")
		lines = append(lines, fmt.Sprintf("%d\t%s\t%d", n, at, counts[n]))
	}
	return lines
}

func top100Model(in string) (lines []string) {
	counts := make(map[string]int)
	for _, view := range fieldsOf(in) {
		counts[view[2]]++
	}
	pages := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, page := range pages[:min(len(pages), 100)] {
		lines = append(lines, fmt.Sprintf("%s\t%d", page, counts[page]))
	}
	return lines
}

func sessionsModel(in string) (lines []string) {
	times := make(map[string][]int64)
	for _, view := range fieldsOf(in) {
		times[view[1]] = append(times[view[1]], number(view[0]))
	}
	for user, all := range times {
		slices.Sort(all)
		begin := 0
		for i := range all {
			if i+1 == len(all) || all[i+1]-all[i] > 30*60 {
				lines = append(lines, fmt.Sprintf("%s\t%d\t%d\t%d", user, all[begin], all[i], i+1-begin))
				begin = i + 1
			}
		}
	}
	return lines
}
