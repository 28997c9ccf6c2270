import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { AgentNode } from '../../agent/servers/agent-node.ts';
import { NEEDS_WINGS } from '../../wings/testing/needs-wings.ts';
import { renderCommand } from '../render-command.ts';
import { servicesCommand } from '../services.ts';
import { manyServices } from './testing/many-services.ts';
import { runCommand } from './testing/run-command.ts';
import { serveAgent } from './testing/served-agent.ts';

const SHOP = join(import.meta.dirname, '../render/testdata/shop.yaml');
const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-basis-'));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

async function configFile(t: TestContext, text: string): Promise<string> {
  const path = join(await folder(t), 'config.yaml');
  await writeFile(path, `${HEAD}${text}`);
  return path;
}

async function agentWith(
  t: TestContext,
  config: string,
  says: Partial<AgentNode> = {},
): Promise<string> {
  const runFolder = await folder(t);
  const configPath = await configFile(t, config);
  const files = { runFolder, configPath, manifests: [SHOP] };
  const agent = await serveAgent({ ...files, nodeName: 'node1', says: { pid: 4121, ...says } });
  t.after(() => agent[Symbol.asyncDispose]());
  return runFolder;
}

const services = (t: TestContext, ...args: string[]) => runCommand(t, servicesCommand(), args);
const render = (t: TestContext, ...args: string[]) => runCommand(t, renderCommand(), args);
const firstLine = (text: string): string => text.split('\n')[0] ?? '';

describe('a command without flags', () => {
  it(
    'answers with the configuration, mode and node of the agent of this machine',
    NEEDS_WINGS,
    async (t) => {
      const config = 'mode: iptables\nclusterCIDR: 10.1.0.0/16\niptables: {masqueradeAll: true}\n';
      const runFolder = await agentWith(t, config);
      const told = await services(t, '--run-folder', runFolder, 'shop/web');
      assert.equal(told.code, 0);
      assert.equal(firstLine(told.err), 'from the agent on node1 (iptables, pid 4121)');
      assert.match(told.out, /10\.96\.0\.10:80 +cluster-ip +2, masq +2, masq +2, masq/);
      const rendered = await render(t, '--run-folder', runFolder, 'shop/web');
      assert.equal(firstLine(rendered.err), 'from the agent on node1 (iptables, pid 4121)');
      assert.match(rendered.out, /^shop\/web:http {2}TCP, IPv4, by iptables$/m);
      assert.match(rendered.out, /10\.96\.0\.10:80 +cluster-ip +2, masq +2, masq +2, masq/);
    },
  );

  it('has its basis in JSON', async (t) => {
    const runFolder = await agentWith(t, 'mode: nftables\n');
    const { out } = await services(t, '--run-folder', runFolder, '-o', 'json');
    const agent = { pid: 4121, nodeName: 'node1', mode: 'nftables' };
    for (const { from } of JSON.parse(out)) {
      const both = { configuration: 'agent', objects: 'agent' };
      assert.deepEqual(from, { ...both, node: 'node1', mode: 'nftables', agent });
    }
  });

  it('does not use an agent whose lists are not complete yet', async (t) => {
    const runFolder = await agentWith(t, '', { missing: ['service', 'slice'] });
    const { code, out, err } = await services(t, '--run-folder', runFolder);
    assert.deepEqual([code, out], [1, '']);
    assert.equal(
      firstLine(err),
      'the agent has not received the initial lists yet; missing: service, slice',
    );
  });

  it('reads more rows than one response holds, page by page', async (t) => {
    const runFolder = await folder(t);
    const manifests = join(runFolder, 'many.json');
    await writeFile(manifests, manyServices(5_000));
    const files = { runFolder, configPath: await configFile(t, ''), manifests: [manifests] };
    await using _agent = await serveAgent({ ...files, nodeName: 'node1' });
    const { out } = await services(t, '--run-folder', runFolder, '-o', 'json');
    const keys = new Set(JSON.parse(out).map(({ key }: { key: string }) => key));
    assert.equal(keys.size, 5_000);
  });
});

describe('flags that are given', () => {
  it('win over the agent, and the line shows it', NEEDS_WINGS, async (t) => {
    const runFolder = await agentWith(t, 'mode: nftables\nclusterCIDR: 10.1.0.0/16\n');
    const { err, out } = await render(t, '--run-folder', runFolder, '--mode', 'iptables');
    assert.equal(
      firstLine(err),
      `from the agent on node1 (nftables, pid 4121) and ${SHOP} with --mode iptables, node node1 (iptables)`,
    );
    assert.match(out, /by iptables$/m);
    assert.match(out, /10\.96\.0\.10:80 +cluster-ip +2 +2, masq +2, masq/);
  });

  it('name another configuration or cluster, and the agent is not used', async (t) => {
    const runFolder = await agentWith(t, 'mode: iptables\n');
    const config = await configFile(t, 'mode: nftables\n');
    const args = ['--run-folder', runFolder, '--config', config, '-f', SHOP, '--node', 'node1'];
    const { err } = await services(t, ...args);
    assert.equal(firstLine(err), `from ${config} and ${SHOP}, node node1 (nftables)`);
  });
});

describe('a file', () => {
  for (const mode of ['nftables', 'iptables', 'socket-ebpf', 'tc-ebpf']) {
    it(`with mode ${mode} is rendered in it`, NEEDS_WINGS, async (t) => {
      const isKubeProxys = mode === 'nftables' || mode === 'iptables';
      const config = await configFile(
        t,
        isKubeProxys ? `mode: ${mode}\n` : `fairlead: {mode: ${mode}}\n`,
      );
      const { err, out } = await render(t, '-f', SHOP, '--node', 'node1', '--config', config);
      assert.equal(firstLine(err), `from ${config} and ${SHOP}, node node1 (${mode})`);
      const where = {
        nftables: /in table ip fairlead$/m,
        iptables: /by iptables$/m,
        'socket-ebpf': /behind socket hooks$/m,
        'tc-ebpf': /behind packet hooks$/m,
      }[mode];
      assert.match(out, where ?? /^$/);
    });
  }

  it('with a mode is overridden by --mode', NEEDS_WINGS, async (t) => {
    const config = await configFile(t, 'mode: nftables\nfairlead: {mode: socket-ebpf}\n');
    const args = ['-f', SHOP, '--node', 'node1', '--config', config, '--mode', 'iptables'];
    const { err, out } = await render(t, ...args);
    assert.match(firstLine(err), / with --mode iptables, node node1 \(iptables\)$/);
    assert.match(out, /by iptables$/m);
  });
});

describe('-f', () => {
  it('takes one value, and leaves the next argument to the command', async (t) => {
    const { code, out } = await services(t, '--node', 'node1', '-f', SHOP, 'shop/empty');
    assert.equal(code, 0);
    assert.match(out, /shop\/empty/);
    assert.doesNotMatch(out, /shop\/web/);
  });

  it('may be repeated', async (t) => {
    const other = join(await folder(t), 'other.yaml');
    await writeFile(other, 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n');
    const { code, err } = await services(t, '--node', 'node1', '-f', SHOP, '-f', other);
    assert.equal(code, 0);
    assert.equal(firstLine(err), `from ${SHOP}, ${other}, node node1 (nftables)`);
  });

  for (const [what, name, text, line] of [
    ['is not there', 'nope.yaml', undefined, 'cannot read FILE: no such file'],
    ['is broken', 'a.yaml', 'kind: List\nitems: [\n', 'FILE:3: Flow sequence in block'],
    ['is no object', 'a.yaml', 'just text\n', 'FILE:1: not a Kubernetes object: it has no kind'],
  ] as const) {
    it(`names a file that ${what}, and where`, async (t) => {
      const file = join(await folder(t), name);
      if (text !== undefined) await writeFile(file, text);
      for (const command of [servicesCommand(), renderCommand()]) {
        const { code, out, err } = await runCommand(t, command, ['-f', file, '--node', 'node1']);
        assert.deepEqual([code, out], [1, '']);
        assert.ok(firstLine(err).startsWith(line.replace('FILE', file)), err);
      }
    });
  }

  it('names a folder without manifests', async (t) => {
    const empty = join(await folder(t), 'empty');
    await mkdir(empty);
    const { code, err } = await services(t, '-f', empty);
    assert.equal(code, 1);
    assert.equal(firstLine(err), `no manifest files in ${empty}`);
  });
});
