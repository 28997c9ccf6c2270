import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { enterOwnNetwork, ip, run } from '../../../../../../linux/netlink/testing/own-namespace.ts';
import type { Ports } from '../../../../../../linux/userspace/source-ports.ts';
import { TestMainThread } from './main-thread.ts';

/** Where servers of a test listen. */
export const ENDPOINT = '10.9.0.1';
/** A source that no test has used before: the kernel translates no port of its connections. */
export const FRESH_CLIENT = '10.9.0.2';
/** Packets to these are sent and never answered. */
export const SILENT = '10.8.0.1';
const OWN = '169.254.118.118';
const DEADLINE_MS = 10_000;

/** A node in a network namespace of its own, with one copying thread that gets all of 10.96.0.0/16. */
export class TestNode {
  readonly main: TestMainThread;
  readonly #servers: Server[] = [];
  #lastPort = 1000;
  #lastSlot = 0;

  constructor(main: TestMainThread) {
    this.main = main;
  }

  /** A server, as an endpoint with a slot of its own. */
  async serve(onSocket: (socket: Socket) => void) {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      // The thread resets what is open when it stops.
      socket.on('error', () => socket.destroy());
      socket.unref();
      onSocket(socket);
    });
    this.#servers.push(server);
    server.listen(0, ENDPOINT);
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no address');
    return { slot: this.newSlot(), address: ENDPOINT, port: address.port };
  }

  newSlot(): number {
    this.#lastSlot += 1;
    return this.#lastSlot;
  }

  /** A frontend that no other test uses. */
  newFrontend() {
    this.#lastPort += 1;
    return { address: '10.96.0.1', port: this.#lastPort, source: 'pod' } as const;
  }

  async close(): Promise<void> {
    await this.main.stop();
    for (const server of this.#servers) server.close();
  }
}

interface NodeOptions {
  readonly mostConnections?: number;
  readonly halfClosedMs?: number;
  readonly ports?: Ports;
}

export async function startNode(options: NodeOptions = {}): Promise<TestNode> {
  enterOwnNetwork();
  ip(
    `address add ${ENDPOINT}/32 dev lo`,
    `address add ${FRESH_CLIENT}/32 dev lo`,
    `route add local ${OWN} dev lo table local`,
    'route add 10.96.0.0/16 dev lo',
    'link add silent0 type veth peer name silent1',
    'link set silent0 up',
    'link set silent1 up',
    'address add 10.8.0.254/24 dev silent0',
    `neighbour add ${SILENT} lladdr 02:00:00:00:00:01 dev silent0`,
  );
  const main = new TestMainThread({ address: OWN, ...options });
  await main.ready();
  run(
    ['nft', '-f', '-'],
    `table ip test { chain out { type nat hook output priority -100;
       ip daddr 10.96.0.0/16 meta l4proto tcp dnat to ${OWN}:${main.listener.port}; }; }`,
  );
  return new TestNode(main);
}

export async function connected(
  { address, port }: { readonly address: string; readonly port: number },
  from?: string,
): Promise<Socket> {
  const own = from === undefined ? {} : { localAddress: from };
  const socket = connect({ host: address, port, allowHalfOpen: true, ...own });
  // A test that fails leaves its sockets open: they must not keep the process running.
  socket.unref();
  await once(socket, 'connect', { signal: AbortSignal.timeout(DEADLINE_MS) });
  return socket;
}

/** All that arrives until the end, or the code of the error. */
export async function readAll(socket: Socket): Promise<string> {
  let text = '';
  const { promise, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(`${text} and no end`), DEADLINE_MS);
  socket.on('data', (data) => {
    text += data;
  });
  socket.on('end', () => resolve(text));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? String(error)));
  const result = await promise;
  clearTimeout(timer);
  return result;
}

/** Connects, says it, and returns the answer, or the code of the error. */
export async function converse(
  to: { readonly address: string; readonly port: number },
  say: string,
): Promise<string> {
  const socket = connect({ host: to.address, port: to.port, allowHalfOpen: true });
  const answer = readAll(socket);
  socket.end(say);
  const text = await answer;
  socket.destroy();
  return text;
}

/** Waits for a condition. */
export async function eventually(holds: () => boolean, what: string): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
