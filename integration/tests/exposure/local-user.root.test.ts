import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { readStatus } from '../../../src/agent/servers/status-client.ts';
import { enterOwnNetwork, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { type LimitedProxy, startLimited } from '../deploy/limited-proxy.ts';

const SYNCED = 'every Service is in the kernel';
const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;
const CANNOT_CONNECT = 7;
const PERMISSION = /Permission denied|Operation not permitted/;
const DEADLINE_MS = 10_000;

const SERVICE = `
apiVersion: v1
kind: Service
metadata: { name: a, namespace: default }
spec: { clusterIP: 10.96.0.50, clusterIPs: [10.96.0.50], ports: [{ port: 80 }] }
`;

const CONFIG = `
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
oomScoreAdj: 0
conntrack: { maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s }
fairlead: { nodeObject: none, serviceRanges: [10.96.0.0/16] }
`;

describe('a local user without rights, beside a running Fairlead', () => {
  let folder = '';
  let socketPath = '';
  let processId = 0;
  let proxy: LimitedProxy;

  before(async () => {
    enterOwnNetwork();
    folder = await mkdtemp(join(tmpdir(), 'fairlead-exposure-'));
    // Like /run: every user may enter it, so Fairlead itself must restrict access.
    await chmod(folder, 0o755);
    await writeFile(join(folder, 'services.yaml'), SERVICE);
    await writeFile(join(folder, 'config.yaml'), CONFIG);
    socketPath = join(folder, 'run', 'status.sock');
    proxy = startLimited({
      capabilities: ['NET_ADMIN'],
      args: [
        `--filename=${join(folder, 'services.yaml')}`,
        `--config=${join(folder, 'config.yaml')}`,
        `--run-folder=${join(folder, 'run')}`,
      ],
    });
    processId = Number(/ pid=(\d+)/.exec(await proxy.says(SYNCED, ' pid='))?.[1]);
  });
  after(async () => {
    await proxy[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  async function answers(): Promise<boolean> {
    const found = await readStatus({ socketPath }).catch(() => undefined);
    return found !== undefined;
  }

  function listeners(): string[] {
    const lines = run(['ss', '-H', '-l', '-t', '-u', '-n']).trim().split('\n');
    return lines.map((line) => line.trim().split(/\s+/)[4] ?? '').sort();
  }

  it('is not let at the status socket, and cannot put another in its place', async () => {
    await until(answers, { what: 'the status socket', deadlineMs: DEADLINE_MS });
    const ask = ['curl', '-s', '--unix-socket', socketPath, 'http://x/status'] as const;
    assert.equal((await tryRun(ask)).exitCode, 0);
    const asked = await tryRun([...AS_NOBODY, ...ask]);
    assert.deepEqual([asked.exitCode, asked.stdout], [CANNOT_CONNECT, '']);
    const removed = await tryRun([...AS_NOBODY, 'rm', '-f', socketPath]);
    assert.match(removed.stderr, PERMISSION);
    assert.equal((await stat(join(folder, 'run'))).mode & 0o022, 0);
  });

  it('finds no port but those of health and metrics, and metrics on loopback alone', async () => {
    const isUp = (): boolean => listeners().length === 2;
    await until(isUp, { what: 'both ports', deadlineMs: DEADLINE_MS });
    const others = listeners().filter((place) => place !== '127.0.0.1:10249');
    assert.equal(others.length, 1);
    assert.match(others[0] ?? '', /:10256$/);
  });

  it('finds no debugger after the signal that makes Node open one', async () => {
    const before = listeners();
    process.kill(processId, 'SIGUSR1');
    // Either we say that there is none, or Node says where it listens.
    const isTaken = async (): Promise<boolean> => /debugger/i.test(await proxy.says(SYNCED));
    await until(isTaken, { what: 'the signal to be taken', deadlineMs: DEADLINE_MS });
    assert.deepEqual(listeners(), before);
    assert.doesNotMatch(await proxy.says(SYNCED), /Debugger listening/);
    assert.ok(await answers());
  });

  it('cannot read or change the rules', async () => {
    for (const command of [
      ['nft', 'list', 'table', 'ip', 'fairlead'],
      ['nft', 'delete', 'table', 'ip', 'fairlead'],
    ]) {
      const { exitCode, stderr } = await tryRun([...AS_NOBODY, ...command]);
      assert.notEqual(exitCode, 0);
      assert.match(stderr, PERMISSION);
    }
    run(['nft', 'list', 'table', 'ip', 'fairlead']);
  });
});
