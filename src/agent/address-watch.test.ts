import assert from 'node:assert/strict';
import { test } from 'node:test';
import { service } from '../forwarding/testing/example-objects.ts';
import { VirtualClock } from '../time/testing/virtual-clock.ts';
import type { HeldPort, HostSockets, SocketOwner } from './host-sockets.ts';
import type { AgentObserver } from './observer.ts';
import { addressEvents } from './service-events.ts';
import { SETTINGS, Stage } from './testing/agent-stage.ts';

const NODE_IP = '172.30.1.1';
const SSH: HeldPort = { family: 'IPv4', protocol: 'TCP', address: '', port: 22, inode: 7 };
const NGINX: HeldPort = { ...SSH, port: 30080, inode: 8 };

/** Sockets of a machine that a test changes. */
class ToldSockets implements HostSockets {
  tell: (sockets: readonly HeldPort[]) => void = () => undefined;
  askedCount = 0;

  async run(onChange: ToldSockets['tell'], signal: AbortSignal): Promise<void> {
    this.tell = onChange;
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }

  async owners(): Promise<ReadonlyMap<number, SocketOwner>> {
    this.askedCount++;
    return new Map([[NGINX.inode, { pid: 812, program: 'nginx' }]]);
  }
}

class Scene implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly sockets = new ToldSockets();
  readonly events: string[] = [];
  readonly stage: Stage;

  constructor(more: Partial<ConstructorParameters<typeof Stage>[1]> = {}) {
    const note = (service: { namespace: string; name: string }, text: string): void => {
      this.events.push(`${service.namespace}/${service.name}: ${text}`);
    };
    const observer: AgentObserver = addressEvents(
      {
        addressNotServed: (service, { note: text }) => note(service, text),
        nodePortHeld: note,
      },
      'here',
    );
    this.stage = new Stage(this.clock, {
      hostSockets: this.sockets,
      observers: [observer],
      ...more,
    });
  }

  async started(sockets: readonly HeldPort[]): Promise<void> {
    this.stage.start();
    await this.clock.settle();
    this.stage.complete();
    this.stage.addresses.tell([NODE_IP]);
    this.sockets.tell(sockets);
    await this.clock.until('a first sync', () => this.stage.isEqual());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
  }
}

const nodePort = (port: number) => [{ name: '', protocol: 'TCP', port: 80, nodePort: port }];

test('writes nothing before the addresses and sockets of the machine are known', async () => {
  await using scene = new Scene();
  const { stage, clock } = scene;
  stage.start();
  await clock.settle();
  stage.complete();
  await clock.pass(5000);
  const { why } = stage.agent.conditions().listed;
  assert.equal(why, 'waiting for the initial list of machine addresses, sockets of the machine');
  stage.addresses.tell([NODE_IP]);
  scene.sockets.tell([]);
  await clock.until('the first sync', () => stage.isEqual());
});

test('withdraws an external IP of the machine when a process binds its port', async () => {
  await using scene = new Scene();
  const { stage, clock, events } = scene;
  await scene.started([]);
  stage.source.service(service({ externalIPs: [NODE_IP], ports: nodePort(0) }));
  await clock.until('it is written', () => stage.isEqual());
  assert.equal(stage.agent.conditions().addressesServed.isTrue, true);
  scene.sockets.tell([{ ...SSH, port: 80 }]);
  await clock.until('it is withdrawn', () => stage.isEqual());
  assert.deepEqual(stage.agent.snapshot().notServed, [
    {
      service: 'ns/web',
      address: `external-ip ${NODE_IP}:80/TCP`,
      reason: 'host-socket',
      why: 'a process on this machine listens on the port',
    },
  ]);
  await clock.pass(10_000);
  const told = `ns/web: external-ip ${NODE_IP}:80/TCP is not served: a process on this machine listens on the port (node here)`;
  assert.deepEqual(events, [told]);
  const { isTrue, why } = stage.agent.conditions().addressesServed;
  assert.deepEqual([isTrue, why.slice(0, 25)], [false, '1 addresses are not serve']);
  await clock.pass(60_000);
  assert.equal(events.length, 1);
});

test('a node port whose number a process holds is reported with the process, and served', async () => {
  await using scene = new Scene();
  const { stage, clock, events } = scene;
  await scene.started([SSH, NGINX]);
  assert.equal(stage.agent.conditions().nodePortsFree.isTrue, true);
  stage.source.service(service({ type: 'NodePort', ports: nodePort(30080) }));
  await clock.until('it is written', () => stage.isEqual());
  await clock.pass(6000);
  const { isTrue, why } = stage.agent.conditions().nodePortsFree;
  assert.equal(isTrue, false);
  assert.equal(why, 'node port 30080/TCP of ns/web is also used by nginx (pid 812)');
  assert.equal(stage.agent.snapshot().addresses.conflicts.length, 1);
  assert.deepEqual(events, [
    'ns/web: node port 30080/TCP is also used by a process on node here: clients of that process reach this Service instead',
  ]);
  await clock.pass(60_000);
  assert.deepEqual([events.length, scene.sockets.askedCount], [1, 1]);
  scene.sockets.tell([SSH]);
  await clock.pass(6000);
  assert.equal(stage.agent.conditions().nodePortsFree.isTrue, true);
});

test('ignores a process at an address without node ports', async () => {
  const nodePorts = { addresses: ['10.0.0.0/8'], onLocalhost: false };
  await using scene = new Scene({ settings: { ...SETTINGS, nodePorts } });
  const { stage, clock } = scene;
  await scene.started([NGINX, { ...NGINX, address: '127.0.0.1' }]);
  stage.source.service(service({ type: 'NodePort', ports: nodePort(30080) }));
  await clock.until('it is written', () => stage.isEqual());
  await clock.pass(6000);
  assert.equal(stage.agent.conditions().nodePortsFree.isTrue, true);
  stage.addresses.tell([NODE_IP, '10.0.0.9']);
  await clock.pass(6000);
  const [conflict, ...more] = stage.agent.snapshot().addresses.conflicts;
  assert.deepEqual([conflict?.socket.address, more], ['', []]);
});
