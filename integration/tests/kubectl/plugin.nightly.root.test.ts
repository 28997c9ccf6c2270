import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type EndpointSlice, paths, type Service } from '../../../lab/api/objects.ts';
import { deployDemo, untilReachable } from '../../../lab/commands/demo.ts';
import { setSysctls } from '../../../lab/host/namespaces.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { nodeName } from '../../../lab/network/plan.ts';
import { nodeIndexes } from '../../../lab/network/topology.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { type Desk, openDesk } from './desk.ts';

const LONG_MS = 300_000;
const NODES = 3;
const MOST_COLUMNS = 80;
/** The machine may be busy. */
const NODE_SECONDS = 60;
const SILENT_SECONDS = 20;

/** Real: etcd, kube-apiserver, kubectl, the agents, the plugin. Not: what `kubectl exec` reaches. */
describe('kubectl fairlead in a cluster', { timeout: LONG_MS, concurrency: false }, () => {
  let lab: Lab;
  let desk: Desk;
  let service: Service;

  before(async () => {
    lab = await startLab({ nodeCount: NODES });
    service = await deployDemo(lab);
    await lab.startProxies(findProxy('fairlead-nftables'));
    const hosts = nodeIndexes(lab).map(nodeName);
    await untilReachable({ lab, service, hosts });
    desk = await openDesk(lab);
  });
  after(async () => await lab?.[Symbol.asyncDispose]());

  /** Gives the text for people, which fits 80 columns. */
  async function askWithin(seconds: number, exitCode: number, ...args: string[]): Promise<string> {
    const answer = await desk.fairlead(...args, '--timeout', String(seconds));
    assert.equal(answer.exitCode, exitCode, answer.stdout + answer.stderr);
    const wide = answer.stdout.split('\n').filter((line) => line.length > MOST_COLUMNS);
    assert.deepEqual(wide, []);
    return answer.stdout;
  }

  const ask = (exitCode: number, ...args: string[]) => askWithin(NODE_SECONDS, exitCode, ...args);

  it('shows that every node is ready, as desired and without problems', async (t) => {
    const status = await ask(0, 'status');
    assert.match(status, /^3 of 3 nodes ready$/m);
    for (const node of ['node1', 'node2', 'node3']) {
      assert.match(status, new RegExp(`^${node} +ready +nftables +(\\d+) of \\1 `, 'm'));
    }
    const diff = await ask(0, 'diff');
    assert.match(diff, /^3 of 3 nodes as desired$/m);
    const doctor = await ask(0, 'doctor');
    assert.match(doctor, /^3 of 3 nodes without problems$/m);
    t.diagnostic(`\n${status}\n${diff}\n${doctor}`);
  });

  it('explains a Service on every node, and in detail on the node of a pod', async (t) => {
    const everywhere = await ask(0, 'explain', 'default/web:http');
    assert.match(everywhere, /^3 of 3 nodes would reach it$/m);
    assert.match(everywhere, /^node2 +WOULD_REACH +\S/m);
    const fromPod = await ask(0, 'explain', 'default/web:http', '--from', 'pod:default/web-2');
    assert.match(fromPod, /^REACHES /);
    assert.match(fromPod, /^asked on node2$/m);
    assert.match(fromPod, /^ {2}kernel +has the row/m);
    const whyNot = ['--why-not', 'default/web-3', '--node', 'node1'];
    assert.match(await ask(5, 'explain', 'default/web:http', ...whyNot), /gets 1 of 3 new/);
    t.diagnostic(`\n${everywhere}\n${fromPod}`);
  });

  it('explains a change that is on the disk of the person, and writes nothing', async (t) => {
    const listed = await lab.api.list<EndpointSlice>(paths.allSlices);
    const own = listed.items.filter(
      ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web',
    );
    const items = own.map((slice) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      ...slice,
      endpoints: [],
    }));
    const file = join(lab.folder, 'change.json');
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const out = await ask(3, 'explain', 'default/web:http', '--with', file);
    assert.match(out, /^0 of 3 nodes reach it$/m);
    assert.match(out, /^node1 +REFUSED_NO_ENDPOINTS /m);
    assert.match(out, /open\s+connections\s+here/);
    assert.match(await ask(0, 'explain', 'default/web:http'), /^3 of 3 nodes would reach it$/m);
    t.diagnostic(`\n${out}`);
  });

  it('shows the traffic and the history of all nodes', async (t) => {
    const path = paths.service('default', 'web');
    await lab.api.patch(path, { spec: { sessionAffinity: 'ClientIP' } });
    // Takes a second, by when every node has the change.
    const top = await ask(0, 'top', '--interval', '1s');
    assert.match(top, / new connections\/s, .*on 3 of 3 nodes$/m);
    const history = await ask(0, 'history', 'default/web');
    assert.match(history, /^\d+ changes on 3 nodes/);
    assert.match(history, /^[\d:.]+ {2}all 3 nodes, default\/web: /m);
    assert.match(history, /^[\d:.]+ {2}node2: the agent started/m);
    await lab.api.patch(path, { spec: { sessionAffinity: 'None' } });
    t.diagnostic(`\n${top}\n${history}`);
  });

  it('names a fault of one node, and no other', async (t) => {
    const node2 = lab.namespacePath('node2');
    await setSysctls(node2, ['net.ipv4.ip_forward=0']);
    const out = await ask(3, 'doctor');
    await setSysctls(node2, ['net.ipv4.ip_forward=1']);
    assert.match(out, /^2 of 3 nodes without problems$/m);
    assert.match(out, /^problem {2}IP_FORWARD_OFF {2}on node2$/m);
    t.diagnostic(`\n${out}`);
  });

  it('has a row for a node that does not answer, after its deadline', async (t) => {
    await desk.cutOff('node3');
    const out = await askWithin(SILENT_SECONDS, 1, 'status');
    assert.match(out, /^2 of 3 nodes ready; no answer from 1$/m);
    assert.match(out, /^node3 +no answer +- +- +no answer within 20 s$/m);
    t.diagnostic(`\n${out}`);
  });
});
