import { readFile } from 'node:fs/promises';
import type net from 'node:net';
import { dialTcp, listenTcp } from '../../../../../lab/host/sockets.ts';
import { until } from '../../../../../lab/host/until.ts';
import { must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';
import { askForwarder, livingForwarder } from './forwarder.ts';

const CONNECTIONS = 200;
/** Far more than all buffers of one connection hold. */
const OFFERED_BYTES = 16_000_000;
const MOST_BYTES = 1_000_000;
const PORT = 9;
const DEADLINE_MS = 60_000;
const STANDS_STILL_MS = 1_000;

export const UNREAD_FAULT: PlaneFault = {
  name: 'endpoint that never reads',
  done: `${CONNECTIONS} connections, each with ${OFFERED_BYTES / 1e6} MB for an endpoint that does not read`,
  happen: neverRead,
};

async function neverRead(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const pid = await livingForwarder(scene);
  const pod = scene.pod('left');
  const accepted: net.Socket[] = [];
  const server = await listenTcp({ namespace: pod.namespacePath, port: PORT }, (socket) => {
    socket.pause().on('error', () => undefined);
    accepted.push(socket);
  });
  const address = await scene.service('unread', { protocol: 'TCP', port: PORT, targetPort: PORT });
  await scene.setEndpoints('unread', [pod.address.ipv4]);
  await scene.inside.becomesRight('diff', DEADLINE_MS);
  const before = await memoryOf(scene, pid);
  const clients = Array.from({ length: CONNECTIONS }, () => {
    const target = scene.targetAt(address, PORT);
    const socket = dialTcp(target, target);
    socket.on('error', () => undefined).write(OFFERED);
    return socket;
  });
  try {
    const takenBytes = await standsStill(scene);
    const after = await memoryOf(scene, pid);
    const processBytes = (after.processBytes - before.processBytes) / CONNECTIONS;
    const socketBytes = (after.socketBytes - before.socketBytes) / CONNECTIONS;
    const told = `${kb(processBytes)} in the process and ${kb(socketBytes)} in sockets for each of ${CONNECTIONS}, which took ${kb(takenBytes / CONNECTIONS)}`;
    must(accepted.length === CONNECTIONS, `the endpoint accepted ${accepted.length}`);
    must(processBytes + socketBytes <= MOST_BYTES, told);
    return { rightAfter: 'never wrong', lost: `nothing: ${told}` };
  } finally {
    for (const socket of [...clients, ...accepted]) socket.destroy();
    server.close();
  }
}

const OFFERED = Buffer.alloc(OFFERED_BYTES);

/** Bytes towards the endpoint, when no more are taken. */
async function standsStill(scene: PlaneScene): Promise<number> {
  let seen = { bytes: 0, count: 0 };
  let sinceMs = performance.now();
  return await until(
    async () => {
      const { first, count } = await askForwarder(scene, {
        do: 'connections',
        most: CONNECTIONS * 2,
      });
      const bytes = first.reduce((sum, { bytesToEndpoint }) => sum + bytesToEndpoint, 0);
      if (bytes !== seen.bytes || count !== seen.count) sinceMs = performance.now();
      seen = { bytes, count };
      const isStill = performance.now() - sinceMs > STANDS_STILL_MS;
      return count >= CONNECTIONS && isStill ? bytes : undefined;
    },
    {
      what: () => `connections to fill up: ${seen.count} took ${kb(seen.bytes)}`,
      deadlineMs: DEADLINE_MS,
    },
  );
}

interface Memory {
  readonly processBytes: number;
  /** What all TCP sockets of the node hold, in both directions. */
  readonly socketBytes: number;
}

async function memoryOf(scene: PlaneScene, pid: number): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const processBytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1_024;
  const sockets = await scene.onNode('ss', '--no-header', '--numeric', '--tcp', '--memory');
  return { processBytes, socketBytes: sumOf(sockets) };
}

/**
 * `skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d0)`: received, queued to send, and allocated ahead, which
 * may be less than nothing and is printed without a sign.
 */
function sumOf(text: string): number {
  return [...text.matchAll(/skmem:\(r(\d+),rb\d+,t\d+,tb\d+,f(\d+),w(\d+)/g)].reduce(
    (sum, [, received, ahead, queued]) =>
      sum + Number(received) + (Number(ahead) | 0) + Number(queued),
    0,
  );
}

function kb(bytes: number): string {
  return `${(bytes / 1_000).toFixed(0)} kB`;
}
