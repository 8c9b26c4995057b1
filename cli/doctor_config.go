package cli

import (
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/ops/doctor"
)

// configDir has the configurations of daemons that run as services.
const configDir = "/etc/hammr"

// daemonFiles returns the files of --config; if there are none, that of the variable, or those in configDir.
func daemonFiles(configs []string) []string {
	if len(configs) > 0 {
		return configs
	}
	if file := os.Getenv("HAMMR_CONFIG"); file != "" {
		return []string{file}
	}
	var files []string
	for _, kind := range []string{doctor.Jobmaster, doctor.Tasknode} {
		if file := filepath.Join(configDir, kind+".yaml"); isFile(file) {
			files = append(files, file)
		}
	}
	return files
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
