import { until } from '../../../../../lab/host/until.ts';
import { ClientPorts, Hammer } from '../connections.ts';
import { must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';
import { askForwarder, livingForwarder } from './forwarder.ts';

/** So many leave sockets in TIME_WAIT, with ports that a client of the node may have next. */
const BEFORE = 3_000;
const MEANWHILE = 125;
const HANDS = 8;
const OPEN_FILES = 1_000;
const DEADLINE_MS = 120_000;

/**
 * The kernel looks for a socket before it translates an answer back: one of the forwarder that has
 * the port of a client on the node gets the answer of that client.
 */
export const OWN_CLIENTS_FAULT: PlaneFault = {
  name: "the node's own connections without the forwarder",
  done: `${MEANWHILE} connections of the node itself each while the forwarder is frozen, killed, without an agent and without room, after ${BEFORE} that it copied`,
  happen: askFromNode,
};

async function askFromNode(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const { address } = await scene.hammer();
  const site: Site = { scene, address, ports: new ClientPorts() };
  const asked = {
    frozen: await whileFrozen(site),
    killed: await afterKill(site),
    'without an agent': await withoutAgent(site),
    full: await whileFull(site),
  };
  const failed = Object.entries(asked).filter(([, { failed: each }]) => each > 0);
  const texts = failed.map(([how, { failed: each, made }]) => `${how}: ${each} of ${made}`);
  must(failed.length === 0, `connections of the node failed: ${texts.join(', ')}`);
  const made = Object.values(asked).reduce((sum, each) => sum + each.made, 0);
  return { rightAfter: 'never wrong', lost: `nothing: 0 of ${made} connections failed` };
}

interface Site {
  readonly scene: PlaneScene;
  readonly address: string;
  readonly ports: ClientPorts;
}

interface Asked {
  readonly made: number;
  readonly failed: number;
}

async function ask({ scene, address, ports }: Site, count: number): Promise<Asked> {
  const group = scene.cluster.lab.socketGroup(1);
  const target = { namespace: scene.namespacePath, group, address, port: 80 };
  const hammer = new Hammer({ ...target, sourcePort: ports.take() }, ports);
  hammer.start({ hands: HANDS, pauseMs: 0 });
  const isDone = () => hammer.made.length >= count;
  await until(isDone, { what: `${count} connections`, deadlineMs: DEADLINE_MS });
  await hammer.stop();
  return { made: hammer.made.length, failed: hammer.failed().length };
}

/** Connections that it copies now, so that it has used many ports. */
async function warmUp(site: Site): Promise<number> {
  const pid = await livingForwarder(site.scene);
  await untilTakenBy(site.scene, 'forwarder');
  const { failed } = await ask(site, BEFORE);
  must(failed === 0, `${failed} of ${BEFORE} failed while the forwarder took them`);
  return pid;
}

async function untilTakenBy(scene: PlaneScene, by: 'forwarder' | 'kernel'): Promise<void> {
  const isTaken = async () => {
    const page = (await scene.status()) as { readonly forwarder?: { newConnectionsTo: string } };
    return page?.forwarder?.newConnectionsTo === by;
  };
  await until(isTaken, { what: `connections to go to the ${by}`, deadlineMs: DEADLINE_MS });
}

async function whileFrozen(site: Site): Promise<Asked> {
  const pid = await warmUp(site);
  process.kill(pid, 'SIGSTOP');
  try {
    await untilTakenBy(site.scene, 'kernel');
    return await ask(site, MEANWHILE);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

async function afterKill(site: Site): Promise<Asked> {
  const pid = await warmUp(site);
  // The next one may be there before the status of this one's end is read.
  process.kill(pid, 'SIGKILL');
  return await ask(site, MEANWHILE);
}

async function withoutAgent(site: Site): Promise<Asked> {
  await warmUp(site);
  await site.scene.proxy.stop();
  const asked = await ask(site, MEANWHILE);
  await site.scene.serving();
  return asked;
}

async function whileFull(site: Site): Promise<Asked> {
  const { scene, address } = site;
  process.kill(await livingForwarder(scene), 'SIGKILL');
  await scene.becomeUnder(['prlimit', `--nofile=${OPEN_FILES}:${OPEN_FILES}`]);
  await warmUp(site);
  const { mostConnections } = await askForwarder(scene, { do: 'pulse' });
  using held = scene.holdAt(address);
  await held.open(mostConnections);
  await untilTakenBy(scene, 'kernel');
  const asked = await ask(site, MEANWHILE);
  const lost = await held.lost();
  must(lost.length === 0, `${lost.length} of ${mostConnections} held connections were lost`);
  return asked;
}
