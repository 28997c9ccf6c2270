//go:build tools

// Package parts pins the etcd server that the lab runs. A module of its own:
// its requirements differ from Kubernetes'.
package parts

import _ "go.etcd.io/etcd/server/v3"
