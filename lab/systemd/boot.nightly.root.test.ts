import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cgroupName, hasSeparateHierarchies } from '../host/cgroups.ts';
import { labFolder } from '../host/folders.ts';
import { processesByNamespace } from '../host/namespace-processes.ts';
import { removeLab } from '../lab.ts';
import { buildTopology } from '../network/topology.ts';
import { DEFAULT_NETWORK, findNetwork } from '../network/variants/registry.ts';
import { bootSystemd, type SystemdMachine } from './boot.ts';
import { readNetwork } from './network-state.ts';

const LONG_MS = 15 * 60_000;
const ROLE = 'machine';
const UNIT = `[Service]
Type=oneshot
ExecStart=ip link add made-at-boot type bridge
[Install]
WantedBy=multi-user.target
`;

describe('a host of the lab with systemd', { timeout: LONG_MS }, () => {
  const lab = `s${randomBytes(3).toString('hex')}`;
  let machine: SystemdMachine;

  before(async () => {
    await mkdir(join(labFolder(lab), 'logs'), { recursive: true });
    await buildTopology({
      lab,
      nodeCount: 1,
      podNetwork: 'routed',
      network: findNetwork(DEFAULT_NETWORK),
      iptables: 'xtables-nft-multi',
    });
    machine = await bootSystemd({ lab, role: ROLE });
  });

  after(async () => {
    await removeLab(lab);
  });

  it('has systemd as its first process, and systemd-resolved', async () => {
    assert.equal(await machine.run(['cat', '/proc/1/comm']), 'systemd\n');
    assert.match(await machine.run(['resolvectl', 'status']), /resolv\.conf mode: stub/);
    assert.equal(await machine.run(['hostname']), `${ROLE}\n`);
  });

  it('has the network of the host and Fairlead as it is shipped', async () => {
    assert.match(await machine.run(['ip', 'address', 'show', 'eth0']), /inet 172\.30\.3\.254/);
    assert.match(await machine.run(['fairlead', '--version']), /^fairlead \d/);
  });

  it('cannot change settings of the kernel that are not of its network', async () => {
    const write = 'echo 1 >/proc/sys/kernel/panic';
    assert.notEqual((await machine.tryRun(['sh', '-c', write])).exitCode, 0);
  });

  it('keeps files over a reboot, and nothing that only the kernel had', async () => {
    const network = await readNetwork(machine.namespacePath);
    await writeFile(machine.path('/etc/systemd/system/at-boot.service'), UNIT);
    await machine.run(['systemctl', 'enable', 'at-boot.service']);
    await machine.run(['ip', 'link', 'add', 'by-hand', 'type', 'bridge']);
    await machine.run(['ip', 'route', 'add', '192.0.2.0/24', 'dev', 'lo']);
    await machine.reboot();
    const { links, routes } = await readNetwork(machine.namespacePath);
    assert.deepEqual(links, [...network.links, 'made-at-boot'].sort());
    assert.deepEqual(routes, network.routes);
  });

  it('leaves no process, file or cgroup', async () => {
    await machine[Symbol.asyncDispose]();
    const processes = await processesByNamespace([machine.namespacePath]);
    assert.deepEqual([...processes.values()], [[]]);
    assert.ok(!existsSync(join(labFolder(lab), 'systemd', ROLE)));
    const root = '/sys/fs/cgroup';
    const hierarchies = hasSeparateHierarchies() ? await readdir(root) : ['.'];
    const group = cgroupName({ lab, role: ROLE });
    assert.ok(hierarchies.every((name) => !existsSync(join(root, name, group))));
  });
});
