import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { patternBytes } from './pattern.ts';
import { StreamEnd } from './stream-end.ts';

/** How a stream ends. */
export const ENDINGS = [
  'client-first',
  'server-first',
  'client-resets',
  'server-resets',
  'one-write',
  'slow',
] as const;
export type Ending = (typeof ENDINGS)[number];

interface Plan {
  readonly ending: Ending;
  readonly toServer: number;
  readonly toClient: number;
  readonly seed: number;
}

/** The server's first words, before it knows the plan: an endpoint that speaks first. */
const GREETING_BYTES = 512;
const PLAN_BYTES = 64;
const SLOW_PAUSES = 4;
const SLOW_PAUSE_MS = 15;
const DEADLINE_MS = 60_000;

export interface StreamServer {
  readonly server: Server;
  readonly port: number;
  readonly faults: string[];
  readonly counts: Record<Ending, number>;
}

export async function serveStreams(host: string): Promise<StreamServer> {
  const faults: string[] = [];
  const counts = Object.fromEntries(ENDINGS.map((ending) => [ending, 0])) as Record<Ending, number>;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    void serveOne(socket).then(({ ending, fault }) => {
      if (ending !== undefined) counts[ending] += 1;
      if (fault !== '') faults.push(`server ${ending}: ${fault}`);
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return { server, port: address.port, faults, counts };
}

async function serveOne(socket: Socket): Promise<{ ending?: Ending; fault: string }> {
  socket.write(Buffer.alloc(GREETING_BYTES, 'g'));
  const plan = await readPlan(socket);
  // Reset by the client before its plan arrived.
  if (plan === undefined) return { fault: '' };
  const fault = await serveEnding(new StreamEnd(socket, plan.seed), plan);
  return { ending: plan.ending, fault };
}

async function serveEnding(end: StreamEnd, plan: Plan): Promise<string> {
  const { ending, toServer, toClient, seed } = plan;
  const answerSeed = seed + 1;
  switch (ending) {
    case 'client-first':
    case 'one-write': {
      const fault = await end.fault({ length: toServer, by: 'end' });
      await end.send(answerSeed, toClient);
      end.socket.end();
      return fault;
    }
    case 'server-first':
      await end.send(answerSeed, toClient);
      end.socket.end();
      return await end.fault({ length: toServer, by: 'end' });
    case 'slow': {
      await readSlowly(end);
      const fault = await end.fault({ length: toServer, by: 'end' });
      await end.send(answerSeed, toClient);
      end.socket.end();
      return fault;
    }
    case 'client-resets':
      await end.send(answerSeed, toClient);
      return await end.fault({ length: toServer, by: 'reset' });
    case 'server-resets':
      await end.untilReceived(toServer);
      await end.send(answerSeed, toClient);
      end.socket.resetAndDestroy();
      return '';
  }
}

async function ask(socket: Socket, plan: Plan): Promise<string> {
  const { ending, toServer, toClient, seed } = plan;
  const head = Buffer.alloc(PLAN_BYTES);
  head.write(JSON.stringify([ENDINGS.indexOf(ending), toServer, toClient, seed]));
  if (ending !== 'one-write') socket.write(head);
  if (!(await readGreeting(socket))) return 'no greeting';
  const end = new StreamEnd(socket, seed + 1);
  switch (ending) {
    case 'server-first': {
      const fault = await end.fault({ length: toClient, by: 'end' });
      await end.send(seed, toServer);
      socket.end();
      return fault;
    }
    case 'one-write':
      socket.end(Buffer.concat([head, patternBytes(seed, 0, toServer)]));
      return await end.fault({ length: toClient, by: 'end' });
    case 'client-first':
      await end.send(seed, toServer);
      socket.end();
      return await end.fault({ length: toClient, by: 'end' });
    case 'slow':
      void end.send(seed, toServer).then(() => socket.end());
      await readSlowly(end);
      return await end.fault({ length: toClient, by: 'end' });
    case 'client-resets':
      await end.send(seed, toServer);
      await end.untilReceived(toClient);
      socket.resetAndDestroy();
      return end.count === toClient ? '' : `${end.count} of ${toClient} bytes`;
    case 'server-resets':
      await end.send(seed, toServer);
      return await end.fault({ length: toClient, by: 'reset' });
  }
}

/** Checks `count` streams, `atOnce` at a time, in all endings; returns what was wrong. */
export async function askStreams(options: {
  readonly host: string;
  readonly port: number;
  readonly count: number;
  readonly atOnce: number;
  readonly mostBytes: number;
}): Promise<string[]> {
  const faults: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let number = next++; number < options.count; number = next++) {
      const ending = ENDINGS[number % ENDINGS.length] ?? 'client-first';
      const size = (): number => 1 + Math.floor(Math.random() ** 3 * options.mostBytes);
      const plan = { ending, toServer: size(), toClient: size(), seed: number };
      const fault = await askOne(options, plan);
      if (fault !== '') faults.push(`${ending} ${JSON.stringify(plan)}: ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  return faults;
}

async function askOne(to: { host: string; port: number }, plan: Plan): Promise<string> {
  const socket = connect({ host: to.host, port: to.port, allowHalfOpen: true });
  const late = AbortSignal.timeout(DEADLINE_MS);
  try {
    await once(socket, 'connect', { signal: late });
    const tooLate = new Promise<string>((resolve) => {
      late.addEventListener('abort', () => resolve('not ended in time'));
    });
    return await Promise.race([ask(socket, plan), tooLate]);
  } catch (error) {
    return String(error);
  } finally {
    socket.on('error', () => undefined);
    if (!socket.destroyed) socket.destroy();
  }
}

async function readSlowly({ socket }: StreamEnd): Promise<void> {
  for (let pause = 0; pause < SLOW_PAUSES; pause++) {
    socket.pause();
    await delay(SLOW_PAUSE_MS);
    socket.resume();
    await delay(1);
  }
}

async function readGreeting(socket: Socket): Promise<boolean> {
  const greeting = await readExactly(socket, GREETING_BYTES);
  return greeting?.equals(Buffer.alloc(GREETING_BYTES, 'g')) ?? false;
}

async function readPlan(socket: Socket): Promise<Plan | undefined> {
  const head = await readExactly(socket, PLAN_BYTES);
  if (head === undefined) return undefined;
  const text = head.toString('latin1').replace(/\0+$/, '');
  const [index, toServer, toClient, seed] = JSON.parse(text) as [number, number, number, number];
  return { ending: ENDINGS[index] ?? 'client-first', toServer, toClient, seed };
}

/** Undefined: it ended before. What follows stays in the socket. */
async function readExactly(socket: Socket, length: number): Promise<Buffer | undefined> {
  for (;;) {
    const data = socket.read(length) as Buffer | null;
    if (data !== null) return data.length === length ? data : undefined;
    if (socket.readableEnded || socket.destroyed) return undefined;
    const woken = await new Promise<boolean>((resolve) => {
      const wake = (): void => {
        socket.off('readable', wake);
        socket.off('error', fail);
        socket.off('close', fail);
        resolve(true);
      };
      const fail = (): void => {
        socket.off('readable', wake);
        resolve(false);
      };
      socket.once('readable', wake);
      socket.once('error', fail);
      socket.once('close', fail);
    });
    if (!woken) return undefined;
  }
}
