import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { compiledProgram } from '../../../src/linux/ebpf/testing/compiled-program.ts';
import { type OwnPlace, ownPlace } from '../../../src/linux/ebpf/testing/own-place.ts';
import { enterOwnNetwork, run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { HOOK_NAMES } from '../../../src/wings/ebpf/plane/places/hook-names.ts';
import { type LimitedProxy, startLimited } from './limited-proxy.ts';

const OVERLAY = join(import.meta.dirname, '../../../deploy/ebpf/kustomization.yaml');
const SYNCED = 'every Service is in the kernel';
const ALONE = 'falling back to nftables';
const UNENDED = 'cannot close sockets of removed endpoints';
const METRICS = 'http://127.0.0.1:10249/metrics';
const AS_NOBODY = ['setpriv', '--reuid=65534', '--clear-groups'] as const;

const MANIFEST = `
apiVersion: v1
kind: Service
metadata: { name: a, namespace: default }
spec:
  clusterIP: 10.96.0.50
  clusterIPs: [10.96.0.50]
  ipFamilies: [IPv4]
  ports: [{ port: 53, protocol: UDP }]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: a-1, namespace: default, labels: { kubernetes.io/service-name: a } }
addressType: IPv4
ports: [{ name: "", port: 53, protocol: UDP }]
endpoints: [{ addresses: [10.1.1.1], conditions: { ready: true } }]
`;

/** Those that the manifests give to the container of the proxy. */
function givenCapabilities(): string[] {
  const { patches } = parse(readFileSync(OVERLAY, 'utf8'));
  const { spec } = parse(patches[0].patch).spec.template;
  return spec.containers[0].securityContext.capabilities.add;
}

/** As the manifests give it to the container: nothing has to be written there. */
function mountReadOnly(from: string, to: string): void {
  mkdirSync(to);
  run(['mount', '--bind', from, to]);
  run(['mount', '-o', 'remount,bind,ro', to]);
}

describe('the capabilities of deploy/ebpf', () => {
  const given = givenCapabilities();
  let place: OwnPlace;
  let folder: string;
  let pinFolder: string;
  let group: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-capabilities-'));
    place = ownPlace('capabilities');
    enterOwnNetwork();
    compiledProgram('sock');
    pinFolder = join(place.pins, 'fairlead');
    group = join(folder, 'group');
    mountReadOnly(place.cgroup, group);
    await writeFile(join(folder, 'services.yaml'), MANIFEST);
    await writeFile(join(folder, 'config.json'), JSON.stringify(configuration()));
  });
  // Hooks are detached with their pins once no process holds them.
  afterEach(() => rmSync(pinFolder, { recursive: true, force: true }));
  after(async () => {
    run(['umount', group]);
    place.leave();
    await rm(folder, { recursive: true });
  });

  function configuration(): object {
    return {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'nftables',
      clusterCIDR: '10.1.0.0/16',
      oomScoreAdj: 0,
      conntrack: { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
      fairlead: {
        mode: 'socket-ebpf',
        nodeObject: 'none',
        servedAddresses: ['allClusterIPs'],
        cgroup: group,
        pinFolder,
      },
    };
  }

  function start(capabilities: readonly string[]): LimitedProxy {
    const args = [
      `--filename=${join(folder, 'services.yaml')}`,
      `--config=${join(folder, 'config.json')}`,
      `--run-folder=${join(folder, 'run')}`,
    ];
    return startLimited({ capabilities, args });
  }

  function without(...names: readonly string[]): string[] {
    for (const name of names) assert.ok(given.includes(name), `${name} is not given`);
    return given.filter((name) => !names.includes(name));
  }

  function hooks(): string[] {
    const links = join(pinFolder, 'links');
    return existsSync(links) ? readdirSync(links).sort() : [];
  }

  /** It logs nothing if it can enter every network namespace, so its metrics are read. */
  async function untilSocketsLookedAt(): Promise<void> {
    const count = /^kubeproxy_conntrack_reconciler_sync_duration_seconds_count\S* [1-9]/m;
    await until(async () => count.test(await (await fetch(METRICS)).text()), {
      what: 'the sockets to be scanned',
      deadlineMs: 60_000,
    });
  }

  /** Another Fairlead on the same pins, as after an update. */
  async function assertStartsAgain(capabilities: readonly string[]): Promise<void> {
    await using again = start(capabilities);
    assert.doesNotMatch(await again.says(SYNCED), new RegExp(ALONE));
    assert.deepEqual(hooks(), HOOK_NAMES.toSorted());
  }

  it('are enough: every hook is attached, without a warning', async () => {
    {
      await using proxy = start(given);
      await proxy.says(SYNCED);
      await untilSocketsLookedAt();
      assert.doesNotMatch(await proxy.says(SYNCED), /^[EW]\d/m);
      assert.deepEqual(hooks(), HOOK_NAMES.toSorted());
    }
    await assertStartsAgain(given);
  });

  it('give only root access to the pins', async () => {
    await using proxy = start(given);
    await proxy.says(SYNCED);
    assert.equal(statSync(pinFolder).mode & 0o777, 0o700);
    const maps = join(pinFolder, 'maps');
    const { exitCode, stderr } = await tryRun([...AS_NOBODY, 'ls', maps]);
    assert.notEqual(exitCode, 0);
    assert.match(stderr, /Permission denied/);
  });

  it('without NET_ADMIN: exits with an error', async () => {
    await using proxy = start(without('NET_ADMIN'));
    const { exitCode, said } = await proxy.end();
    assert.equal(exitCode, 1);
    assert.match(said, /lacks CAP_NET_ADMIN/);
    assert.match(said, /add NET_ADMIN to its capabilities.*\(NOT_PERMITTED\)/);
  });

  it('without SYS_ADMIN: hooks serve, and sockets in pods are not ended', async () => {
    const capabilities = without('SYS_ADMIN');
    {
      await using proxy = start(capabilities);
      const said = await proxy.says(SYNCED, UNENDED);
      assert.match(said, /run as root with CAP_SYS_ADMIN/);
      assert.deepEqual(hooks(), HOOK_NAMES.toSorted());
    }
    await assertStartsAgain(capabilities);
  });

  for (const name of ['BPF', 'PERFMON']) {
    it(`without ${name}, and SYS_ADMIN that includes it: falls back to nftables`, async () => {
      await using proxy = start(without(name, 'SYS_ADMIN'));
      const said = await proxy.says(SYNCED, ALONE);
      assert.match(said, new RegExp(`lacks CAP_${name} .*Next: add ${name} to the capabilities`));
      assert.deepEqual(hooks(), []);
    });
  }

  it('without BPF and PERFMON: the kernel takes SYS_ADMIN for both', async () => {
    await using proxy = start(without('BPF', 'PERFMON'));
    assert.doesNotMatch(await proxy.says(SYNCED), /^[EW]\d/m);
    assert.deepEqual(hooks(), HOOK_NAMES.toSorted());
  });
});
