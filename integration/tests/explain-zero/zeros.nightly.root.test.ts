import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import type { Explanation } from '../../../src/explain/explanation.ts';
import { ZeroDesk } from './zero-desk.ts';
import { unready, unscheduled, ZeroObjects } from './zero-objects.ts';

const LONG_MS = 300_000;
const WAIT_MS = 30_000;
const NODES_FULL = '0/2 nodes are available: 2 Insufficient cpu.';
const LOCAL = { internalTrafficPolicy: 'Local' };

interface ZeroCase {
  readonly target: string;
  readonly code: Explanation['code'] | 'forwarded';
  readonly cause?: Explanation['cause'];
  /** Of the line that says why. */
  readonly says: readonly [topic: string, text: RegExp];
  /** What typing a line of `next` prints, or that it repairs the cause. */
  readonly next: RegExp | 'repairs';
}

const REFUSED = 'REFUSED_NO_ENDPOINTS';

const CASES: readonly ZeroCase[] = [
  {
    target: 'typo',
    code: REFUSED,
    cause: 'no pod matches',
    says: ['because', /^its selector app=wbe matches no pod of namespace default; pod web-1 has/],
    next: 'repairs',
  },
  {
    target: 'none',
    code: REFUSED,
    cause: 'no pod matches',
    says: ['because', /matches no pod of namespace default; pods there have app=/],
    next: /app=web/,
  },
  {
    target: 'scaled',
    code: REFUSED,
    cause: 'no pod matches',
    says: ['because', /: Deployment scaled, which would make them, has 0 replicas$/],
    next: /scaled/,
  },
  {
    target: 'crash',
    code: REFUSED,
    cause: 'no pod is ready',
    says: [
      'because',
      /^only pod crash-1 matches app=crash, and it waits for container app: CrashLoopBackOff, last time it ended with exit code 137/,
    ],
    // Without a kubelet there is no log: what kubectl says is that it asked for one.
    next: /^$/,
  },
  {
    target: 'probe',
    code: REFUSED,
    cause: 'no pod is ready',
    says: [
      'because',
      /the readiness probe of container app \(GET :8080\/ready\) does not succeed$/,
    ],
    next: /Readiness:\s+http-get http:\/\/:8080\/ready/,
  },
  {
    target: 'full',
    code: REFUSED,
    cause: 'no pod is ready',
    says: [
      'because',
      /full-1 matches app=full, and it is not scheduled: 0\/2 nodes are available: 2 Insufficient cpu\.$/,
    ],
    next: /PodScheduled\s+False/,
  },
  {
    target: 'ending',
    code: REFUSED,
    cause: 'only terminating',
    says: [
      'because',
      /^2 pods match app=ending, and none is ready: ending-1 is terminating \(and 1/,
    ],
    next: /Terminating/,
  },
  {
    target: 'target',
    code: REFUSED,
    cause: 'port not in slices',
    says: ['because', /^targetPort htpp of port http is the name of no .*: its pods have http$/],
    next: 'repairs',
  },
  {
    target: 'manual',
    code: REFUSED,
    cause: 'port not in slices',
    says: [
      'because',
      /^its EndpointSlices have 1 endpoint with port web, and the Service wants port/,
    ],
    next: 'repairs',
  },
  {
    target: 'lost',
    code: REFUSED,
    cause: 'slice of another service',
    says: [
      'because',
      /^EndpointSlice lost-1 \(1 endpoint\) is labelled for Service lsot, not lost$/,
    ],
    next: 'repairs',
  },
  {
    target: 'bare',
    code: REFUSED,
    cause: 'no slice',
    says: ['because', /^it has no selector, and no EndpointSlice is labelled .*=bare: without/],
    next: /kubernetes\.io\/service-name=/,
  },
  {
    target: 'legacy',
    code: REFUSED,
    cause: 'endpoints object only',
    says: ['because', /its Endpoints object has an address, which no proxy reads/],
    next: /skip-mirror=true/,
  },
  {
    target: 'balancer',
    code: 'forwarded',
    says: ['load balancer', /no load-balancer address yet; it comes from .* example\.com\/lb$/],
    // Its events would say what a controller tried.
    next: /Events:/,
  },
  {
    target: 'dual',
    code: 'forwarded',
    says: ['IPv6', /^default\/dual:http \(\[.*\]:80\) has no endpoint: its ready pod has no IPv6/],
    next: /10\.244\.1\.201/,
  },
  {
    target: 'hinted',
    code: 'forwarded',
    says: ['hints', /only 1 of 2 ready endpoints has one for a zone, and hints count if all have/],
    next: /^$/,
  },
  {
    target: 'local',
    code: 'DROPPED_NO_LOCAL_ENDPOINTS',
    says: ['policy', /^internalTrafficPolicy: Local$/],
    next: /^$/,
  },
];

/** Real: etcd, API server, controllers, kubectl, the agent. Pods are objects without a process. */
describe('a reason for every zero, in a cluster', { timeout: LONG_MS, concurrency: false }, () => {
  let lab: Lab;
  let desk: ZeroDesk;

  before(async () => {
    lab = await startLab({ nodeCount: 2 });
    desk = new ZeroDesk(lab);
    await desk.open();
    await makeObjects(new ZeroObjects(lab));
    await lab.startProxies(findProxy('fairlead-nftables'));
    await until(() => isKnown('dual'), { what: 'endpoints', deadlineMs: WAIT_MS });
    await until(() => isKnown('hinted'), { what: 'slices', deadlineMs: WAIT_MS });
  });
  after(async () => await lab?.[Symbol.asyncDispose]());

  async function isKnown(target: string): Promise<boolean> {
    const { explanation } = await desk.explain([target, '--probe', 'none']);
    return explanation.predicted.action === 'forward';
  }

  for (const { target, code, cause, says, next } of CASES) {
    it(`says of ${target} why, and what to do`, async (t) => {
      const asked = [target, '--probe', 'none'];
      const { explanation } = await desk.explain(asked);
      t.diagnostic(`\n${(await desk.text(asked)).stdout}`);
      if (code === 'forwarded') assert.equal(explanation.predicted.action, 'forward');
      else assert.equal(explanation.code, code);
      assert.equal(explanation.cause, cause);
      const line = explanation.remarks.find(({ topic }) => topic === says[0]);
      assert.match(line?.text ?? '', says[1]);
      const typed = explanation.next.filter((each) => each.startsWith('kubectl'));
      const printed = await Promise.all(typed.slice(0, 1).map((each) => desk.type(each)));
      if (next !== 'repairs') {
        assert.match(printed.map(({ stdout }) => stdout).join(''), next);
        return;
      }
      const repaired = await desk.type(typed.at(-1) ?? '');
      assert.equal(repaired.exitCode, 0, repaired.stderr);
      await until(() => isKnown(target), { what: `${target} repaired`, deadlineMs: WAIT_MS });
    });
  }

  it('names a Service that no proxy serves', async () => {
    const head = await desk.text(['head']);
    assert.equal(head.exitCode, 1);
    assert.match(head.stderr, /Service default\/head is headless \(clusterIP: None\)/);
    const external = await desk.text(['external']);
    assert.match(external.stderr, /is of type ExternalName: it is a DNS name for example\.org/);
  });

  it('does not advise clients of a ClusterIP to connect to another node', async () => {
    const { explanation } = await desk.explain(['local', '--probe', 'none']);
    assert.deepEqual(explanation.next, [
      'run an endpoint on this node, or set internalTrafficPolicy: Cluster',
    ]);
  });

  it('says of a pod that is no endpoint why, by its own labels and ports', async () => {
    const why = async (target: string, pod: string) => {
      const { explanation } = await desk.explain([target, '--why-not', pod]);
      assert.equal(explanation.code, 'NOT_SELECTED');
      return explanation.remarks.find(({ topic }) => topic === 'because')?.text ?? '';
    };
    assert.match(await why('dual', 'crash-1'), /^the selector is app=dual, and it has app=crash$/);
    assert.match(
      await why('ported', 'dual-1'),
      /^targetPort nope of port http is the name of none/,
    );
  });

  it('says what is not known to a person who may not read pods, and goes on', async () => {
    const { proxyKubeconfig } = lab.credentials;
    const { explanation, exitCode } = await desk.explain(
      ['crash', '--probe', 'none'],
      proxyKubeconfig,
    );
    assert.deepEqual([explanation.code, exitCode], [REFUSED, 3]);
    const line = explanation.remarks.find(({ topic }) => topic === 'not known');
    assert.match(line?.text ?? '', /^(services|pods) cannot be read with your credentials: /);
  });

  it('answers within its deadline where the API server of the kubeconfig is silent', async () => {
    const file = join(lab.folder, 'silent.kubeconfig');
    // An address of the fabric that nothing has: packets to it get no answer.
    const cluster = { server: 'https://198.51.100.254:6443' };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'silent',
      clusters: [{ name: 'silent', cluster }],
      contexts: [{ name: 'silent', context: { cluster: 'silent', user: '' } }],
    };
    await writeFile(file, JSON.stringify(config));
    const beganAtMs = performance.now();
    const { explanation } = await desk.explain(['crash', '--probe', 'none'], file);
    assert.ok(performance.now() - beganAtMs < 20_000);
    assert.equal(explanation.code, REFUSED);
    assert.ok(explanation.remarks.some(({ topic }) => topic === 'not known'));
  });
});

async function makeObjects(objects: ZeroObjects): Promise<void> {
  const selecting = (app: string) => ({ selector: { app } });
  await objects.pod('web-1', { node: 'node1', ip: '10.244.1.200' });
  await objects.pod('dual-1', { node: 'node1', ip: '10.244.1.201' });
  await objects.pod('local-1', { node: 'node2', ip: '10.244.2.202' });
  const oom = { terminated: { exitCode: 137, reason: 'OOMKilled' } };
  const crashing = unready({ waiting: { reason: 'CrashLoopBackOff' } }, { lastState: oom });
  await objects.pod('crash-1', { node: 'node1', ip: '10.244.1.203', status: crashing });
  await objects.pod('probe-1', {
    node: 'node1',
    ip: '10.244.1.204',
    status: unready({ running: {} }, { started: true }),
    container: { readinessProbe: { httpGet: { port: 8080, path: '/ready' } } },
  });
  await objects.pod('full-1', { status: unscheduled(NODES_FULL) });
  await objects.ending('ending-1', { node: 'node1', ip: '10.244.1.205' });
  await objects.ending('ending-2', { node: 'node2', ip: '10.244.2.205' });
  await objects.deployment('scaled', 0);
  await objects.service('typo', selecting('wbe'));
  await objects.service('none', selecting('reviews'));
  for (const app of ['scaled', 'crash', 'probe', 'full', 'ending']) {
    await objects.service(app, selecting(app));
  }
  const wrong = (targetPort: string) => [{ name: 'http', port: 80, targetPort }];
  await objects.service('target', { ...selecting('web'), ports: wrong('htpp') });
  await objects.service('ported', { ...selecting('dual'), ports: wrong('nope') });
  await objects.service('local', { ...selecting('local'), ...LOCAL });
  await objects.service('dual', { ...selecting('dual'), ipFamilyPolicy: 'RequireDualStack' });
  const loadBalancerClass = 'example.com/lb';
  await objects.service('balancer', {
    ...selecting('web'),
    type: 'LoadBalancer',
    loadBalancerClass,
  });
  await objects.service('head', { ...selecting('web'), clusterIP: 'None' });
  await objects.service('external', { type: 'ExternalName', externalName: 'example.org' });
  for (const name of ['manual', 'lost', 'bare', 'legacy', 'hinted'])
    await objects.service(name, {});
  const endpoint = { addresses: ['10.244.1.210'], conditions: { ready: true } };
  await objects.slice('manual-1', { service: 'manual', port: 'web', endpoints: [endpoint] });
  await objects.slice('lost-1', { service: 'lsot', port: 'http', endpoints: [endpoint] });
  await objects.legacy('legacy');
  const other = { addresses: ['10.244.1.211'], conditions: { ready: true } };
  const hints = { forZones: [{ name: 'zone-a' }] };
  await objects.slice('hinted-1', {
    service: 'hinted',
    port: 'http',
    endpoints: [{ ...endpoint, hints }, other],
  });
}
