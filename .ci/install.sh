# Sourced by .ci/run and .ci/nightly: what must be there before the runner can start.
# The caller sets `plan` and `packages`; `spent` is what the runner is told of it.

spent=()
part='nothing yet'
finish() { if [ "$1" -ne 0 ]; then printf '\n.ci/%s: FAILED in: %s (exit code %s)\n' "$plan" "$part" "$1"; fi; }
trap 'finish $?' EXIT

# It is ended when it takes far longer than any budget: nothing hangs here either.
timed() {
  part=$1
  local limit=$2 started=$SECONDS
  shift 2
  printf '\n===== %s\n' "$part"
  timeout --kill-after=10 "$limit" "$@"
  spent+=(--spent "$part=$((SECONDS - started))")
}

install_packages() {
  if dpkg -s "${packages[@]}" >/dev/null 2>&1; then
    spent+=(--spent debian-packages=0)
    return
  fi
  spent+=(--cold debian-packages)
  timed debian-packages 600 bash -euo pipefail -c '
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  ' install "${packages[@]}"
}

# With these options nothing is run.
only_tells() {
  for option in "$@"; do
    case $option in --list | --report | --help | -h) return 0 ;; esac
  done
  return 1
}

start_runner() {
  if ! only_tells "$@"; then
    install_packages
    if [ ! -d "$(npm config get cache)/_cacache" ]; then spent+=(--cold npm-packages); fi
    timed npm-packages 600 npm ci --no-audit --no-fund
  fi
  trap - EXIT
  exec tools/node tools/ci/main.ts "$plan" "${spent[@]}" "$@"
}
