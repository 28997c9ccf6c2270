//go:build tools

// Package parts pins Helm, which renders the chart. The replaced modules have the versions of ../kubernetes, so
// that Go compiles most of Kubernetes' packages once for both.
package parts

import _ "helm.sh/helm/v4/cmd/helm"
