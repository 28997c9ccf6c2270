//go:build tools

// Package parts pins Cilium: its agent, and its control plane for load balancing alone.
package parts

import (
	_ "github.com/cilium/cilium/daemon"
	_ "github.com/cilium/cilium/pkg/loadbalancer/repl"
)
