package notice

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Names of the clouds.
const (
	CloudAWS   = "aws"
	CloudGCP   = "gcp"
	CloudAzure = "azure"
)

// azureTag is the asset tag of every machine of Azure.
const azureTag = "7783-7084-3265-9085-8269-3286-77"

// dmiDir has what the firmware says of the machine.
const dmiDir = "/sys/class/dmi/id"

// Detect returns the cloud in which this machine runs, by its firmware.
func Detect() (string, error) {
	cloud := detect(func(field string) string {
		text, err := os.ReadFile(filepath.Join(dmiDir, field))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(text))
	})
	if cloud == "" {
		return "", fmt.Errorf("the firmware (%s) is that of no known cloud: name the cloud", dmiDir)
	}
	return cloud, nil
}

// detect is Detect, given the fields of the firmware; "" for no known cloud.
func detect(field func(name string) string) string {
	switch {
	case strings.HasPrefix(field("sys_vendor"), "Amazon EC2"), strings.HasPrefix(field("bios_vendor"), "Amazon EC2"):
		return CloudAWS
	case strings.HasPrefix(field("product_name"), "Google Compute Engine"):
		return CloudGCP
	case field("chassis_asset_tag") == azureTag:
		return CloudAzure
	}
	return ""
}

// Service is the Source of a cloud. Close closes its connections; no call may be under way.
type Service interface {
	Source
	Close() error
}

// NewSource returns the Service of a cloud. base is Address, except in tests.
func NewSource(cloud, base string) (Service, error) {
	switch cloud {
	case CloudAWS:
		return newAWS(base), nil
	case CloudGCP:
		return newGCP(base), nil
	case CloudAzure:
		return newAzure(base), nil
	}
	return nil, fmt.Errorf("no cloud %q: expected %s, %s or %s", cloud, CloudAWS, CloudGCP, CloudAzure)
}
