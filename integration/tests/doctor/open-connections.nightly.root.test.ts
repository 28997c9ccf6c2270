import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runCommand } from '../../../src/commands/basis/testing/run-command.ts';
import { layNetwork, POD } from '../../../src/commands/doctor/testing/examined-node.ts';
import { explainCommand } from '../../../src/commands/explain-command.ts';
import { enterOwnNetwork, ip } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { agentInMode, cannotRun } from './agent-in-mode.ts';

const OPENED = 12;
const LEAVING = '10.244.2.20';
/** Takes one of the two endpoints away. */
const CHANGE = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { namespace: shop, name: web-1, labels: { kubernetes.io/service-name: web } }
addressType: IPv4
ports: [{ name: http, port: 8080, protocol: TCP }]
endpoints: [{ addresses: [${POD}], nodeName: node1, conditions: { ready: true } }]
`;

let folder: string;
let change: string;
let server: Server;
/** The endpoint of each connection that is open. */
const accepted = new Map<Socket, string>();

before(async () => {
  enterOwnNetwork();
  layNetwork();
  // Both endpoints are this process.
  ip(`addr add ${POD}/32 dev eth0`, `addr add ${LEAVING}/32 dev eth0`);
  folder = await mkdtemp(join(tmpdir(), 'fairlead-explain-'));
  change = join(folder, 'change.yaml');
  await writeFile(change, CHANGE);
  server = createServer((socket) => {
    accepted.set(socket, socket.localAddress ?? '');
    socket.on('error', () => socket.destroy());
    socket.on('close', () => accepted.delete(socket));
    socket.write('.');
  }).listen(8080, '0.0.0.0');
  await once(server, 'listening');
});

after(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

/** Connections through the Service, each answered by its endpoint; they end when it is disposed. */
async function openConnections(): Promise<AsyncDisposable> {
  const sockets: Socket[] = [];
  for (let count = 0; count < OPENED; count++) {
    const socket = connect({ host: '10.96.0.10', port: 80 });
    sockets.push(socket);
    await once(socket, 'data');
  }
  return {
    [Symbol.asyncDispose]: async () => {
      // Not `once` of node:events, which rejects on the reset that is meant.
      const ended = [...accepted.keys()].map(
        (socket) => new Promise((resolve) => socket.once('close', resolve)),
      );
      for (const socket of sockets) socket.resetAndDestroy();
      await Promise.all(ended);
    },
  };
}

const MODES = ['nftables', 'iptables', 'userspace', 'ipvs'] as const;

describe('explain --with, asking for open connections', { concurrency: false }, () => {
  for (const mode of MODES) {
    const skip = cannotRun(mode);
    it(`counts those of mode ${mode} by what their endpoints accepted`, { skip }, async (t) => {
      const agent = await agentInMode(t, mode);
      // Ended before the agent, which forgets their translation.
      await using _open = await openConnections();
      const lose = [...accepted.values()].filter((address) => address === LEAVING).length;
      const stay = accepted.size - lose;
      assert.equal(stay + lose, OPENED);
      const args = ['shop/web', '--with', change, '--run-folder', agent.runFolder];
      const json = await runCommand(t, explainCommand(), [...args, '-o', 'json']);
      const { open } = JSON.parse(json.out).with;
      assert.deepEqual(open.total, { stay, drain: 0, lose });
      assert.deepEqual(open.rows, { 'shop/web:http/TCP/IPv4': open.total });
      const text = await runCommand(t, explainCommand(), args);
      const told = `of ${OPENED} open connections ${stay} stay, ${lose} lose their endpoint`;
      assert.ok(text.out.replaceAll(/\s+/g, ' ').includes(told), text.out);
    });
  }
});
