import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runProgram } from './program.ts';
import { servicesCommand } from './services.ts';

const SHOP = join(import.meta.dirname, 'render/testdata/shop.yaml');
const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

/** Runs `fairlead services -f shop.yaml …` in this process; returns its output and its warnings. */
async function run(context: TestContext, ...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const log = context.mock.method(console, 'log', (text: string) => out.push(text));
  const error = context.mock.method(console, 'error', (text: string) => err.push(text));
  try {
    const code = await runProgram(
      async () => [servicesCommand()],
      ['services', '-f', SHOP, ...args],
    );
    return { code, out: out.join('\n'), err: err.join('\n') };
  } finally {
    for (const { mock } of [log, error]) mock.restore();
  }
}

test('a node serves every kind of address', async (context) => {
  const { out, err } = await run(context, '--node', 'node1');
  for (const kind of ['cluster-ip', 'load-balancer-ip', 'node-port'])
    assert.match(out, new RegExp(kind));
  assert.doesNotMatch(err, /not served|clients/);
});

test('shows that a machine without a Node object serves ClusterIPs to its own sockets only', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-services-'));
  try {
    const file = join(folder, 'config.yaml');
    await writeFile(file, `${HEAD}mode: nftables\nfairlead: {nodeObject: none}\n`);
    const { code, out, err } = await run(context, '--config', file);
    assert.equal(code, 0);
    assert.match(out, /cluster-ip/);
    assert.doesNotMatch(out, /external-ip|load-balancer-ip|node-port/);
    assert.match(err, /external IPs, load-balancer IPs, and node ports are not served/);
    assert.match(err, /clients: own sockets;/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

const LOCAL_POLICY = `
apiVersion: v1
kind: Service
metadata: {name: here, namespace: shop}
spec: {clusterIPs: [10.96.9.9], internalTrafficPolicy: Local, ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: here-1, namespace: shop, labels: {kubernetes.io/service-name: here}}
addressType: IPv4
endpoints: [{addresses: [10.1.0.1], nodeName: machine, conditions: {ready: true}}]
ports: [{port: 8080, protocol: TCP}]
`;

test('says why a machine without a Node object rejects a Service with policy Local', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-services-'));
  try {
    const [config, objects] = [join(folder, 'config.yaml'), join(folder, 'objects.yaml')];
    const ranges = 'serviceRanges: [10.96.0.0/16]';
    const block = `fairlead: {nodeObject: none, zone: zone-z, ${ranges}}`;
    await writeFile(config, `${HEAD}mode: nftables\nhostnameOverride: machine\n${block}\n`);
    await writeFile(objects, LOCAL_POLICY);
    const at = ['--config', config, '-f', objects, 'shop/here'];
    const { out, err } = await run(context, ...at);
    assert.match(out, /KIND +FROM HOST +NOTES/);
    const why = /cluster-ip +rejected +rejected: internalTrafficPolicy is Local, and this/;
    assert.match(out, why);
    assert.match(err, /as seen from machine, not a node \(zone zone-z\)/);
    const wide = await run(context, ...at, '-o', 'wide');
    assert.match(
      wide.out,
      /10\.1\.0\.1:8080 +machine +ready +list not used +this machine is not a/,
    );
    const json = await run(context, ...at, '-o', 'json');
    const [row] = JSON.parse(json.out) as { frontends: { outcomes: unknown }[] }[];
    const reject = { action: 'reject', reason: 'not-a-node' };
    assert.deepEqual(row?.frontends[0]?.outcomes, { pod: reject, host: reject, outside: reject });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('says why a machine without a Node object does not serve a ClusterIP', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-services-'));
  try {
    const [config, objects] = [join(folder, 'config.yaml'), join(folder, 'objects.yaml')];
    await writeFile(objects, LOCAL_POLICY);
    const notes = async (ranges: string): Promise<string> => {
      await writeFile(config, `${HEAD}mode: nftables\nfairlead: {nodeObject: none${ranges}}\n`);
      return (await run(context, '--config', config, '-f', objects, 'shop/here')).out;
    };
    const other = await notes(', serviceRanges: [10.97.0.0/16]');
    assert.match(
      other,
      /not served: it is outside of the configured Service ranges 10\.97\.0\.0\/16/,
    );
    assert.match(await notes(''), /not served: no Service range is configured/);
    assert.doesNotMatch(await notes(', servedAddresses: [allClusterIPs]'), /not served/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('shows only Services in the scope, for manifests too', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-services-'));
  try {
    const [config, objects] = [join(folder, 'config.yaml'), join(folder, 'objects.yaml')];
    const service = (namespace: string, name: string, tier: string): string =>
      `kind: Service\napiVersion: v1\nmetadata: {namespace: ${namespace}, name: ${name}, labels: {tier: ${tier}}}\n` +
      `spec: {clusterIPs: [10.96.9.${name.length}], ports: [{port: 80}]}\n---\n`;
    const all = [
      service('a', 'x', 'front'),
      service('a', 'yy', 'back'),
      service('b', 'zzz', 'front'),
    ];
    await writeFile(objects, all.join(''));
    const scope = '{namespaces: [a], serviceSelector: tier=front}';
    await writeFile(
      config,
      `${HEAD}mode: nftables\nfairlead: {nodeObject: none, scope: ${scope}}\n`,
    );
    const { out, err } = await run(context, '--config', config, '-f', objects);
    assert.match(out, /^a\/x TCP/m);
    assert.doesNotMatch(out, /a\/yy|b\/zzz/);
    assert.match(err, /; scope: namespace a; tier=front;/);
    const other = await run(context, '--config', config, '-f', objects, 'b/zzz');
    assert.equal(other.code, 1);
    assert.match(other.err, /Service b\/zzz does not exist, is outside of fairlead\.scope, or/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

const DRAFTS = `
apiVersion: v1
kind: Service
metadata: {name: draft, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: peers, namespace: shop}
spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: mail, namespace: shop}
spec: {type: ExternalName, externalName: mail.example.com}
`;

test('names Services of manifests that have no row, and why', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-services-'));
  try {
    const objects = join(folder, 'objects.yaml');
    await writeFile(objects, DRAFTS);
    for (const form of ['table', 'json']) {
      const { code, err } = await run(context, '-f', objects, '-o', form);
      assert.equal(code, 0);
      assert.match(err, /^not listed: Service shop\/draft has no clusterIP in these manifests: /m);
      assert.match(err, /^not listed: Service shop\/peers is headless \(clusterIP: None\)/m);
      assert.match(err, /^not listed: Service shop\/mail is of type ExternalName: .* mail\.exam/m);
    }
    const one = await run(context, '-f', objects, 'shop/draft');
    assert.equal(one.code, 1);
    assert.match(one.err, /Service shop\/draft has no clusterIP in these manifests/);
    const port = await run(context, '-f', objects, 'shop/web:nope');
    assert.match(port.err, /port nope of Service shop\/web does not exist/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('shows no outcome beside an address that is not served, and counts one port as one', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-services-'));
  try {
    const [config, objects] = [join(folder, 'config.yaml'), join(folder, 'objects.yaml')];
    await writeFile(objects, LOCAL_POLICY);
    await writeFile(config, `${HEAD}mode: nftables\nfairlead: {nodeObject: none}\n`);
    const { out, err } = await run(context, '--config', config, '-f', objects, 'shop/here');
    assert.match(out, /10\.96\.9\.9:80 +cluster-ip +- +not served: no Service range/);
    assert.match(err, /^1 port, as seen from/m);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('says that masquerading is not known without a range of pods', async (context) => {
  const unknown = /; masquerading not known without --cluster-cidr or --config;/;
  const bare = await run(context, '--node', 'node1');
  assert.match(bare.err, unknown);
  const given = await run(context, '--node', 'node1', '--cluster-cidr', '10.1.0.0/16');
  assert.doesNotMatch(given.err, unknown);
});
