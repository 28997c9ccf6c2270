//go:build tools

// Package parts pins Helm 3, which renders the chart. The replaced modules have the versions of ../kubernetes, so
// that Go compiles most of Kubernetes' packages once for both.
package parts

import _ "helm.sh/helm/v3/cmd/helm"
