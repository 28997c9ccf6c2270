import assert from 'node:assert/strict';
import { it } from 'node:test';
import { USERS } from '../../../lab/control-plane/credentials.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { SERVICE_CIDR } from '../../../lab/network/plan.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import type { AgentSnapshot } from '../../../src/agent/snapshot.ts';
import { loudLines } from './proxy-log.ts';
import { snapshotOf } from './run-version.ts';

/** Longer than the slowest pace at which Fairlead asks again for what was missing. */
const DEADLINE_MS = 90_000;

/** Before 1.33, which no server of ours reaches, the gate was off and v1 was not there. */
const OFF = '--feature-gates=MultiCIDRServiceAllocator=false';
const NOT_V1 = 'networking.k8s.io/v1/servicecidrs=false,networking.k8s.io/v1/ipaddresses=false';
const WITHOUT_RANGES = [OFF, `--runtime-config=${NOT_V1}`];
const WITH_BETA_RANGES = [OFF, `--runtime-config=${NOT_V1},networking.k8s.io/v1beta1=true`];

const RANGE = '10.250.0.0/24';

/** The role of kube-proxy has it only where the gate is on. */
async function letProxyReadRanges({ api }: Lab): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  const metadata = { name: 'test:servicecidrs' };
  const rule = { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'] };
  await api.create(`/apis/${group}/v1/clusterroles`, {
    metadata,
    rules: [{ ...rule, verbs: ['list', 'watch'] }],
  });
  await api.create(`/apis/${group}/v1/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup: group, kind: 'User', name: USERS.proxy.name }],
  });
}

async function untilStatus(
  lab: Lab,
  what: string,
  holds: (snapshot: AgentSnapshot) => boolean,
): Promise<AgentSnapshot> {
  return await until(
    async () => {
      const snapshot = await snapshotOf(lab, 'node1');
      return holds(snapshot) ? snapshot : undefined;
    },
    { what, deadlineMs: DEADLINE_MS },
  );
}

const gapsOf = ({ apiServer }: AgentSnapshot): string[] =>
  apiServer?.gaps.map(({ feature, reason }) => `${feature}: ${reason}`) ?? [];

it('does without ServiceCIDR, reads v1beta1, and v1 after an upgrade, without a restart', async () => {
  await using lab = await startLab({
    nodeCount: 1,
    apiVersion: '1.33',
    apiServerFlags: WITHOUT_RANGES,
  });
  const proxies = await lab.startProxies(findProxy('fairlead-nftables'));
  const [daemon] = [...proxies.values()];
  assert.ok(daemon);
  const without = await snapshotOf(lab, 'node1');
  assert.deepEqual(gapsOf(without), ['ServiceCIDR: not served', 'streaming lists: not served']);
  assert.deepEqual(without.node.serviceRanges, []);
  assert.equal(without.conditions.apiComplete.isTrue, false);
  assert.equal((await loudLines(daemon.logFile)).length, 1);

  await lab.replaceApiServer({ version: '1.33', flags: WITH_BETA_RANGES });
  await untilStatus(lab, 'the beta version to be forbidden', (snapshot) =>
    gapsOf(snapshot).includes('ServiceCIDR: forbidden'),
  );
  await lab.api.create('/apis/networking.k8s.io/v1beta1/servicecidrs', {
    metadata: { name: 'more' },
    spec: { cidrs: [RANGE] },
  });
  await letProxyReadRanges(lab);
  await untilStatus(lab, 'the range of the beta version', ({ node }) =>
    node.serviceRanges.includes(RANGE),
  );

  await lab.replaceApiServer({ version: '1.37', flags: [] });
  const upgraded = await untilStatus(
    lab,
    'the ranges of v1',
    ({ node, apiServer }) =>
      node.serviceRanges.includes(SERVICE_CIDR.ipv4) &&
      apiServer?.version?.startsWith('v1.37.') === true,
  );
  assert.ok(upgraded.node.serviceRanges.includes(RANGE));
  assert.deepEqual(gapsOf(upgraded), []);
  assert.equal(daemon.ended(), undefined);
});
