import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tryRun } from '../../../lab/host/run.ts';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { type Scene, startScene } from './scene.ts';
import { clusterIp } from './shop.ts';

const PROGRAM = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const SHOP = fileURLToPath(
  new URL('../../../src/commands/explain/testdata/shop.yaml', import.meta.url),
);
const NOBODY = ['--reuid=65534', '--regid=65534', '--clear-groups'];

describe('explain says what a missing capability leaves', () => {
  let scene: Scene;
  before(async () => {
    scene = await startScene('nftables');
  });
  after(() => scene.stop());

  /** What it prints, on one line, with its exit code at the end. */
  function explained(capabilities: readonly string[], ...args: readonly string[]): string {
    return explainedAs([], capabilities, args);
  }

  function explainedAs(
    who: readonly string[],
    capabilities: readonly string[],
    args: readonly string[],
  ): string {
    const set = ['-all', ...capabilities.map((name) => `+${name}`)].join();
    const limits = [...who, `--bounding-set=${set}`, '--inh-caps=-all'];
    const asked = ['explain', ...args, '--run-folder', scene.runFolder];
    const argv = ['setpriv', ...limits, process.execPath, PROGRAM, ...asked];
    const text = run(['sh', '-c', '"$@" 2>&1; echo "exit $?"', 'sh', ...argv]);
    return text.replaceAll(/\s+/g, ' ').trim();
  }

  it('none: the prediction', () => {
    const told = explained([], 'shop/web', '--from', 'host', '--probe', 'connect');
    assert.match(told, /WOULD_REACH this node would reach shop\/web/);
    assert.match(told, /not proven by a packet: this process lacks CAP_NET_ADMIN for a trace/);
    assert.match(told, /exit 5$/);
  });

  it('only NET_ADMIN: a proof by a connection of the node itself', () => {
    const syn = explained(['net_admin'], 'shop/web', '--from', 'host');
    assert.match(syn, /lacks CAP_NET_RAW to send a single SYN; --probe connect does without/);
    const told = explained(['net_admin'], 'shop/web', '--from', 'host', '--probe', 'connect');
    assert.match(told, /proof as predicted, by one connection .* exit 0$/);
  });

  it('only NET_ADMIN: no packet of a pod', () => {
    const asked = ['shop/web', '--from', `pod:${scene.client.ipv4}`, '--probe', 'connect'];
    const told = explained(['net_admin'], ...asked);
    assert.match(told, /lacks CAP_SYS_ADMIN to enter others, as in a pod of the DaemonSet/);
    assert.match(told, /--watch 60s waits for its next one/);
    assert.match(told, /exit 5$/);
  });

  it('only NET_ADMIN: a proof by the next packet of a pod', async () => {
    const { client, runFolder } = scene;
    const web = clusterIp('web', 'ipv4');
    const limits = ['--bounding-set=-all,+net_admin', '--inh-caps=-all'];
    const asked = ['explain', `${web}:80`, '--from', client.ipv4, '--watch', '60s'];
    const argv = ['setpriv', ...limits, process.execPath, PROGRAM, ...asked] as const;
    let isOver = false;
    const watching = tryRun([...argv, '--run-folder', runFolder], { deadlineMs: 90_000 });
    const told = watching.finally(() => {
      isOver = true;
    });
    const question = { transport: 'TCP', address: web, port: 80, timeoutMs: 300 } as const;
    while (!isOver) await client.ask(question);
    const { exitCode, stdout } = await told;
    assert.equal(exitCode, 0, stdout);
    const text = stdout.replaceAll(/\s+/g, ' ');
    assert.match(text, /^REACHES .* proof as predicted, by the next packet of a client/);
  });

  it('NET_ADMIN and NET_RAW: all but the reasons of the kernel', () => {
    const told = explained(['net_admin', 'net_raw'], 'shop/deaf', '--from', 'host');
    assert.match(told, /ENDPOINT_REFUSES .* drops not read: this process lacks CAP_BPF/);
    assert.match(told, /exit 4$/);
  });

  it('BPF and PERFMON too: the reasons as well', () => {
    const all = ['net_admin', 'net_raw', 'bpf', 'perfmon'];
    const told = explained(all, 'shop/deaf', '--from', 'host');
    assert.match(told, /ENDPOINT_REFUSES nothing listens at .* dropped NO_SOCKET/);
  });

  it('an unprivileged user: that only root may query the agent', () => {
    const told = explainedAs(NOBODY, [], ['shop/web', '--from', 'host']);
    assert.match(told, /an agent runs on this machine, but only root may query it/);
    assert.match(told, /exit 1$/);
  });

  it('an unprivileged user, offline: the prediction', () => {
    const asked = ['shop/web', '-f', SHOP, '--node', 'node1', '--from', 'host'];
    assert.match(explainedAs(NOBODY, [], asked), /WOULD_REACH this node would reach .* exit 5$/);
    const proof = explainedAs(NOBODY, [], [...asked, '--probe', 'dry']);
    assert.match(proof, /not proven by a packet: these are not the rows of a running agent/);
    assert.match(proof, /exit 5$/);
  });
});
