//go:build tools

// Package parts pins an earlier control plane, which emulates versions that the newest one cannot.
// Blank imports keep it in go.mod; nothing is ever compiled from this file.
package parts

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
)
