import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Daemon } from '../../../lab/host/processes.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { type MetricFamily, readFamilies } from '../../compare/metrics/families.ts';
import { startFairlead, untilSynced } from '../fairlead-process.ts';
import { dashboardQueries, deployedRules } from './deployed.ts';
import { nameFaults } from './faults.ts';

const MODE = 'nftables';
const [METRICS_PORT, HEALTH_PORT] = [10_249, 10_256];
const CONFIG = `
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: ${MODE}
conntrack: { maxPerCore: 0 }
fairlead: { serviceMetrics: 5 }
`;
const SERVICE = `
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec: { clusterIP: 10.96.0.5, ports: [{ port: 80, protocol: TCP }] }
`;
/** Only with an API server, with traffic, or in mode userspace: the nightly test asks for those. */
const ELSEWHERE =
  /^no metric (?:rest_client_|fairlead_service_|fairlead_forwarder_|kubeproxy_network_)/;

describe('metrics that dashboard and alerts ask for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-monitoring-'));
  let agent: Daemon;
  let families: ReadonlyMap<string, MetricFamily>;

  before(async () => {
    enterOwnNetwork();
    const [objects, config] = [join(folder, 'objects.yaml'), join(folder, 'config.yaml')];
    writeFileSync(objects, SERVICE);
    writeFileSync(config, CONFIG);
    const flags = ['--config', config, '--hostname-override', 'node1'];
    agent = startFairlead({ mode: MODE, objects, folder, flags });
    await untilSynced(agent, folder);
    await get(HEALTH_PORT, '/healthz');
    families = readFamilies(await get(METRICS_PORT, '/metrics'));
  });

  after(async () => {
    await agent.stop();
    rmSync(folder, { recursive: true });
  });

  async function get(port: number, path: string): Promise<string> {
    const origin = { namespace: `/proc/${process.pid}/ns/net` };
    return (await httpGet(origin, { address: '127.0.0.1', port, path })).body;
  }

  function faultsOf(expression: string): string[] {
    return nameFaults(expression, families).filter((fault) => !ELSEWHERE.test(fault));
  }

  it('are in a scrape, with their labels', () => {
    for (const { alert, expr } of deployedRules()) assert.deepEqual(faultsOf(expr), [], alert);
    for (const { title, expression } of dashboardQueries()) {
      assert.deepEqual(faultsOf(expression), [], title);
    }
  });

  it('are found missing if misspelt, and labels too', () => {
    assert.deepEqual(faultsOf('fairlead_failing_row > 0'), ['no metric fairlead_failing_row']);
    assert.deepEqual(faultsOf('sum by (family) (fairlead_oldest_pending_seconds)'), [
      'fairlead_oldest_pending_seconds has no label family',
    ]);
  });
});
