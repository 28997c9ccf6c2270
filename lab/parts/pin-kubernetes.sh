#!/usr/bin/env bash
# Pins another version of Kubernetes in a module of lab/parts: pin-kubernetes.sh v1.37.1 kubernetes e2e
# Upstream's go.mod replaces its staging modules by folders; here they are replaced by their releases.
set -euo pipefail
version=${1:?which version, such as v1.37.1}
shift
staging="v0.${version#v1.}"
gomod=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p')
modules=$(sed -n 's#^\t\(k8s.io/[a-z0-9-]*\) => ./staging/.*#\1#p' "$gomod")
for folder in "$@"; do
  cd "$(dirname "$(realpath "$0")")/$folder"
  go mod edit -require "k8s.io/kubernetes@$version"
  for module in $(sed -n 's#^\t\(k8s.io/[a-z0-9-]*\) => .*#\1#p' go.mod); do
    go mod edit -dropreplace "$module"
  done
  for module in $modules; do go mod edit -replace "$module=$module@$staging"; done
  GOFLAGS=-mod=mod go mod tidy
  cd - >/dev/null
done
