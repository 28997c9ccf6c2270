//go:build tools

// Package parts pins what a cluster with real nodes adds, and the tests that run in it.
// A module of its own: the tests' requirements would move those of the control plane.
package parts

import (
	_ "github.com/onsi/ginkgo/v2/ginkgo"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
	_ "k8s.io/kubernetes/cmd/kubelet"
	_ "k8s.io/kubernetes/test/e2e"
	_ "k8s.io/kubernetes/test/images/regression-issue-74839"
)
