import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { FORWARDER_ADDRESSES } from '../../../../../dataplanes/shared/forwarder-addresses.ts';
import { enterOwnNetwork, ip, run } from '../../../../../linux/netlink/testing/own-namespace.ts';

export const SERVICE = '10.96.0.1';
const DEADLINE_MS = 10_000;

/** A network of the test's own in which connections to a Service range can be handed over. */
export function enterForwarderNetwork(): void {
  enterOwnNetwork();
  ip(
    'addr add 10.0.0.9/32 dev lo',
    ...[1, 2, 3].map((host) => `addr add 10.0.0.${host}/32 dev lo`),
    `route add local ${FORWARDER_ADDRESSES.IPv4} dev lo table local`,
    'route add 10.96.0.0/16 dev lo src 10.0.0.9',
  );
}

/** Connections to the range go to this port of the forwarder. */
export function handOver(port: number): void {
  const target = `${FORWARDER_ADDRESSES.IPv4}:${port}`;
  const rule = `ip daddr 10.96.0.0/16 tcp dport 1-65535 dnat to ${target}`;
  const chain = `chain out {\ntype nat hook output priority -100\n${rule}\n}\n`;
  run(['nft', '-f', '-'], `table ip test\ndelete table ip test\ntable ip test { ${chain} }\n`);
}

/** Answers every connection with its own address, then with what it gets. */
export async function echoServer(address: string, port = 8080): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(`${address}\n`);
    socket.pipe(socket);
  });
  server.listen(port, address);
  await once(server, 'listening');
  return server;
}

/** A client of the Service that knows which endpoint it has. */
export class TestClient {
  readonly #socket: Socket;
  #text = '';
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(port = 80) {
    this.#socket = createConnection({ host: SERVICE, port });
    this.#socket.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString();
      this.#wake();
    });
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => {
      this.#hasEnded = true;
      this.#wake();
    });
  }

  async endpoint(): Promise<string> {
    await this.#until(() => this.#text.includes('\n'));
    return this.#text.slice(0, this.#text.indexOf('\n'));
  }

  /** Sends a text and waits until it comes back. */
  async echo(text: string): Promise<void> {
    this.#socket.write(text);
    await this.#until(() => this.#text.endsWith(text));
  }

  async ended(): Promise<void> {
    await this.#until(() => this.#hasEnded, true);
  }

  close(): void {
    this.#socket.destroy();
  }

  async #until(isMet: () => boolean, mayEnd = false): Promise<void> {
    const timer = setTimeout(() => this.#wake(), DEADLINE_MS);
    const endsAtMs = performance.now() + DEADLINE_MS;
    try {
      while (!isMet()) {
        if (this.#hasEnded && !mayEnd) throw new Error('the connection ended');
        if (performance.now() >= endsAtMs) throw new Error(`not met; got '${this.#text}'`);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
    }
  }
}
