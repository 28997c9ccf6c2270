import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { silentProgress } from '../host/progress.ts';
import { provideBench } from '../parts/bench.ts';
import {
  askStreams,
  countOf,
  type StreamCounts,
  type StreamServer,
  serveStreams,
} from './streams.ts';

const HERE = '/proc/self/ns/net';
/** Below the ports that the kernel gives to clients: no connection of another test can hold it. */
const SERVER_PORT = 19_177;
const CONNECTIONS = 120;

interface Middleman {
  /** What becomes of a chunk on its way. */
  readonly change: (chunk: Buffer) => Buffer;
  readonly onReset: (other: Socket) => void;
}

const HONEST: Middleman = {
  change: (chunk) => chunk,
  // Node never closes a socket that is to be reset while it still sends or ends.
  onReset: (other) =>
    other.connecting || other.writableEnded || other.writableLength > 0
      ? other.destroy()
      : other.resetAndDestroy(),
};

describe('checked streams', () => {
  let folder: string;
  let program: string;
  let server: StreamServer;

  const ask = (port: number): Promise<StreamCounts> =>
    askStreams({
      program,
      namespacePath: HERE,
      to: `127.0.0.1:${port}`,
      connections: CONNECTIONS,
      workers: 8,
      mostBytes: 100_000,
      deadlineMs: 60_000,
    });
  const askBy = async (middleman: Middleman): Promise<StreamCounts> => {
    await using between = await standBetween(middleman);
    return await ask(between.port);
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-streams-'));
    program = await provideBench({ progress: silentProgress });
    const logFile = join(folder, 'server.log');
    server = await serveStreams({ program, namespacePath: HERE, port: SERVER_PORT, logFile });
  });
  after(async () => {
    const counts = await server.stop();
    assert.ok(counts.bytes > 0);
    await rm(folder, { recursive: true });
  });

  it('finds nothing wrong without anything in between', async () => {
    const { right, wrong, faults } = await ask(SERVER_PORT);
    assert.deepEqual(wrong, {}, faults.join('\n'));
    assert.equal(countOf(right), CONNECTIONS);
    assert.equal(Object.keys(right).length, 6);
  });

  it('finds nothing wrong behind a proxy that passes on ends and resets', async () => {
    const { wrong, faults } = await askBy(HONEST);
    assert.deepEqual(wrong, {}, faults.join('\n'));
  });

  it('finds a changed byte', async () => {
    const { wrong } = await askBy({
      onReset: (other) => other.destroy(),
      change: (chunk) => {
        const changed = Buffer.from(chunk);
        if (changed.length > 5_000) changed.writeUInt8(changed.readUInt8(4_000) ^ 1, 4_000);
        return changed;
      },
    });
    assert.ok(countOf(wrong) > 0);
  });

  it('finds a reset that arrives as an end', async () => {
    const { wrong } = await askBy({ ...HONEST, onReset: (other) => other.end() });
    assert.ok((wrong['server-resets'] ?? 0) > 0);
    assert.equal(wrong['client-ends'], undefined);
  });
});

interface Between extends AsyncDisposable {
  readonly port: number;
}

async function standBetween({ change, onReset }: Middleman): Promise<Between> {
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on('data', (chunk) => {
      if (!to.write(change(chunk))) from.pause();
    });
    to.on('drain', () => from.resume());
    from.on('end', () => to.end());
    from.on('error', () => onReset(to));
    from.on('close', () => sockets.delete(from));
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const endpoint = connect({ port: SERVER_PORT, host: '127.0.0.1', allowHalfOpen: true });
    pass(client, endpoint);
    pass(endpoint, client);
  });
  const listening = once(server, 'listening');
  server.listen(0, '127.0.0.1');
  await listening;
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
