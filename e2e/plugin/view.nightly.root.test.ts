import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tryRun } from '../../lab/host/run.ts';
import { until } from '../../lab/host/until.ts';
import { type RealCluster, startRealCluster } from '../../lab/real/cluster.ts';
import { findRealProxy } from '../../lab/real/proxies/registry.ts';
import { type Desk, openDesk } from './desk.ts';

const LONG_MS = 600_000;
const GONE_MS = 30_000;
/** How the plugin starts it in the pod. */
const REMOTE = 'view --until-input-ends';

/** Starts the plugin, asks what it serves as a page would, and ends it by Ctrl-C. */
const session = (fabric: string): string => `
set -m
out=$(mktemp)
kubectl-fairlead view node2 > $out 2>&1 & plugin=$!
until grep -q token= $out || ! kill -0 $plugin; do sleep 0.1; done
[[ $(cat $out) =~ (http://127.0.0.1:[0-9]+)/\\?token=([^[:space:]]+) ]]
origin=\${BASH_REMATCH[1]} token=\${BASH_REMATCH[2]}
ask() { nsenter --net=${fabric} curl -sS -m 10 "$@"; }
ask -o /dev/null -w 'without a token %{http_code}\\n' $origin/data/node
ask -H "Authorization: Bearer $token" $origin/data/node | sed 's/^/node /'; echo
ask -N -H "Authorization: Bearer $token" $origin/data/ticks | sed -n 's/^event: /event /p' | head -2
kill -INT -- -$plugin
wait $plugin; echo "exit $?"
sed 's/^/said /' $out`;

/** Real: kubelet, containerd, the DaemonSet as deploy/manifests has it, kubectl, and the plugin as it ships. */
describe('kubectl fairlead view on real nodes', { timeout: LONG_MS }, () => {
  let cluster: RealCluster;
  let desk: Desk;

  before(async () => {
    cluster = await startRealCluster({ nodeCount: 2, proxy: findRealProxy('fairlead-nftables') });
    desk = await openDesk(cluster);
  });
  after(async () => await cluster?.[Symbol.asyncDispose]());

  it('serves the page of the node here, and leaves nothing running there', async () => {
    const { stdout, stderr } = await desk.bash(session(cluster.fabricPath));
    const lines = stdout.split('\n');
    assert.ok(lines.includes('without a token 401'), stdout + stderr);
    const node = lines.find((line) => line.startsWith('node '))?.slice('node '.length);
    const about = JSON.parse(node ?? '');
    assert.deepEqual([about.node, about.mode], ['node2', 'nftables'], stdout);
    const events = lines.filter((line) => line.startsWith('event '));
    assert.deepEqual(events, ['event hello', 'event tick']);
    assert.match(stdout, /^said of fairlead-\w+; read-only; Ctrl-C ends it$/m);
    assert.ok(lines.includes('exit 0'), stdout + stderr);
    const isGone = async () => (await tryRun(['pgrep', '-f', REMOTE])).exitCode === 1;
    await until(isGone, { what: 'fairlead view in the pod to end', deadlineMs: GONE_MS });
  });
});
