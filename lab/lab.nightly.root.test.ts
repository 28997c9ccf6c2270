import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { paths, type Service } from './api/objects.ts';
import { formatStatus, readStatus } from './commands/status.ts';
import { listNamespaces } from './host/namespaces.ts';
import { until } from './host/until.ts';
import { type Lab, removeLab, startLab } from './lab.ts';
import { readEscapes } from './network/capture.ts';
import { nodeAddress } from './network/plan.ts';
import { findProxy } from './proxies/registry.ts';
import { httpGet } from './servers/http-get.ts';

const LONG_MS = 120_000;

async function serve(lab: Lab, nodeIndex: number): Promise<Service> {
  await lab.pods.run({
    namespace: 'default',
    name: 'web',
    nodeIndex,
    labels: { app: 'web' },
    ports: [{ port: 8080, protocol: 'TCP' }],
    ready: true,
    hostNetwork: false,
    server: 'own',
  });
  return await lab.api.create<Service>(paths.services('default'), {
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
  });
}

async function hostnameThrough(lab: Lab, service: Service): Promise<string> {
  const origin = { namespace: lab.namespacePath('node1') };
  const to = { address: service.spec.clusterIP ?? '', port: 80, path: '/hostname' };
  return await until(
    async () => (await httpGet(origin, { ...to, deadlineMs: 500 }).catch(() => undefined))?.body,
    { what: 'the Service to answer', deadlineMs: 20_000 },
  );
}

describe('a lab', { timeout: LONG_MS }, () => {
  it('serves a Service through a real kube-proxy and leaves nothing behind', async () => {
    let name: string;
    let folder: string;
    {
      await using lab = await startLab();
      ({ name, folder } = lab);
      await lab.startProxies(findProxy('upstream-nftables'));
      assert.equal(await hostnameThrough(lab, await serve(lab, 2)), 'web');
    }
    assert.deepEqual(await listNamespaces(name), []);
    assert.equal(existsSync(folder), false);
  });

  it('does not meet another lab that is up at the same time', async () => {
    await using first = await startLab();
    await using second = await startLab();
    const service = await serve(first, 1);
    const inSecond = await second.api.find(paths.service('default', service.metadata.name));
    assert.equal(inSecond, undefined);
    assert.notEqual(first.name, second.name);
  });

  it('has ten nodes when asked, each of which reaches the pods of the others', async () => {
    await using lab = await startLab({ nodeCount: 10 });
    const pod = await lab.pods.run({
      namespace: 'default',
      name: 'far',
      nodeIndex: 10,
      labels: {},
      ports: [{ port: 8080, protocol: 'TCP' }],
      ready: true,
      hostNetwork: false,
      server: 'own',
    });
    for (const address of [pod.address.ipv4, pod.address.ipv6]) {
      const to = { address, port: 8080, path: '/hostname' };
      const answer = await httpGet({ namespace: lab.namespacePath('node1') }, to);
      assert.equal(answer.body, 'far');
    }
    const nodes = await lab.api.list<object>(paths.nodes);
    assert.equal(nodes.items.length, 10);
  });

  it('records what leaves a node for a Service address, and answers it with silence', async () => {
    await using lab = await startLab({ nodeCount: 1 });
    const to = { address: '10.96.77.77', port: 81, path: '/', deadlineMs: 300 };
    await assert.rejects(httpGet({ namespace: lab.namespacePath('node1') }, to), {
      name: 'AbortError',
    });
    const escapes = await readEscapes(lab.namespacePath('fabric'));
    assert.equal(escapes.find((e) => e.address === to.address && e.port === 81)?.protocol, 'TCP');
  });

  it('starts with thousands of Services that the API server knows as its own', async () => {
    await using lab = await startLab({ load: { services: 2_000, endpointsPerService: 3 } });
    const count = async (path: string): Promise<number> =>
      (await lab.api.list<object>(path)).items.length;
    // The API server adds the Service and the slice named kubernetes, each in its own time.
    for (const path of ['/api/v1/services', paths.allSlices]) {
      const what = `2,001 objects at ${path}`;
      await until(async () => (await count(path)) === 2_001, { what, deadlineMs: 10_000 });
    }
    const clash = { spec: { clusterIP: '10.97.0.7', ports: [{ port: 80 }] } };
    await assert.rejects(
      lab.api.create(paths.services('default'), { metadata: { name: 'clash' }, ...clash }),
      /already allocated/,
    );
  });

  it('is found on the machine after it was detached, and removed by name', async () => {
    const lab = await startLab({ nodeCount: 1 });
    await lab.detach();
    const found = (await readStatus()).find((status) => status.lab === lab.name);
    assert.match(formatStatus(found ? [found] : []), /kube-apiserver/);
    const pids = found?.namespaces.flatMap((ns) => ns.processes.map(({ pid }) => pid)) ?? [];
    assert.equal(pids.length, 3);
    await removeLab(lab.name);
    assert.deepEqual(await listNamespaces(lab.name), []);
    assert.equal(existsSync(lab.folder), false);
    await until(() => pids.every((pid) => !isRunning(pid)), { what: 'ends', deadlineMs: 5_000 });
  });

  it('rejects a name that is in use, and leaves the first lab alone', async () => {
    await using lab = await startLab({ nodeCount: 1 });
    await assert.rejects(startLab({ name: lab.name }), { code: 'LAB_EXISTS' });
    const to = { address: nodeAddress(1).ipv4, port: 1, path: '/' };
    const namespace = lab.namespacePath('fabric');
    await assert.rejects(httpGet({ namespace }, to), { code: 'ECONNREFUSED' });
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
