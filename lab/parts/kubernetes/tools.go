//go:build tools

// Package parts pins the upstream programs that the lab runs.
// Blank imports keep them in go.mod; nothing is ever compiled from this file.
package parts

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-proxy"
	_ "k8s.io/kubernetes/cmd/kubectl"
	_ "k8s.io/kubernetes/test/images/agnhost"
)
