//go:build tools

// Package parts pins an earlier kube-proxy, to run beside the newest one.
// The blank import keeps it in go.mod; nothing is ever compiled from this file.
package parts

import _ "k8s.io/kubernetes/cmd/kube-proxy"
