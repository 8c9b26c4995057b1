package jhist

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/clean"
	"github.com/hammr/hammr/internal/wire"
)

// maxName bounds the name of the job in the name of the file, in bytes. It is Hadoop's default.
const maxName = 50

// FileName returns the name of the file with the events of a finished job. The JobHistoryServer reads
// a part of what it lists from the name.
func FileName(s *wire.JobStatus) string {
	parts := []string{
		s.JobId, fmt.Sprint(s.SubmitTime), cmp.Or(s.User, "NA"), cmp.Or(s.Name, "NA"), fmt.Sprint(s.FinishTime), fmt.Sprint(s.MapsDone), fmt.Sprint(s.ReducesDone),
		s.State.String(), cmp.Or(s.Queue, "NA"), fmt.Sprint(s.StartTime),
	}
	for i, p := range parts {
		escaped := ""
		for _, r := range p { // a character is cut off as a whole
			e := strings.ReplaceAll(url.QueryEscape(string(r)), "-", "%2D")
			if i == 3 && len(escaped)+len(e) > maxName {
				break
			}
			escaped += e
		}
		parts[i] = escaped
	}
	return strings.Join(parts, "-") + ".jhist"
}

// Export writes the events and the properties of a finished job into a directory, which it creates.
// Values of secret properties are replaced. It returns the file with the events.
func Export(dir string, s *wire.JobStatus) (string, error) {
	var events bytes.Buffer
	if err := Write(&events, s); err != nil {
		return "", err
	}
	conf, err := configuration(s)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, confName(s)), conf, 0o644); err != nil {
		return "", err
	}
	file := filepath.Join(dir, FileName(s))
	return file, os.WriteFile(file, events.Bytes(), 0o644)
}

// property is a property in a configuration file of Hadoop.
type property struct {
	Name   string `xml:"name"`
	Value  string `xml:"value"`
	Source string `xml:"source"`
}

// configuration returns the file with the properties of a job.
func configuration(s *wire.JobStatus) ([]byte, error) {
	properties := clean.Properties(s.Properties)
	all := map[string]string{"mapreduce.job.name": s.Name, "mapreduce.job.user.name": s.User, "mapreduce.job.queuename": s.Queue}
	maps.Copy(all, properties)
	doc := struct {
		XMLName    xml.Name   `xml:"configuration"`
		Properties []property `xml:"property"`
	}{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		doc.Properties = append(doc.Properties, property{name, all[name], "job.xml"})
	}
	text, err := xml.MarshalIndent(doc, "", " ")
	return append([]byte(xml.Header), text...), err
}
