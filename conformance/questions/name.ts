import { randomInt } from 'node:crypto';
import { type Destination, dialTcp, dialUdp, type Origin } from '../../lab/host/sockets.ts';
import type { Family } from '../../lab/network/plan.ts';
import { dnsAddresses, dnsQuery } from './dns-message.ts';
import { type Outcome, outcomeOfError, SILENCE_MS } from './outcome.ts';
import { afterSilence } from './silence.ts';
import { startStopwatch } from './stopwatch.ts';

const LENGTH_BYTES = 2;

/** Asks a DNS server for the addresses of a name in the family that it is asked in. */
export async function askName(
  origin: Origin,
  to: Destination & { readonly protocol: string; readonly name: string },
): Promise<Outcome> {
  const id = randomInt(2 ** 16);
  const family: Family = to.address.includes(':') ? 'ipv6' : 'ipv4';
  const query = dnsQuery(id, to.name, family);
  const read = (message: Buffer): Outcome | undefined => {
    const addresses = dnsAddresses(id, message);
    return addresses && { kind: 'resolved', addresses };
  };
  const ask = to.protocol === 'UDP' ? askByDatagram : askByConnection;
  return await ask(origin, to, { query, read });
}

interface Exchange {
  readonly query: Buffer;
  /** Undefined: that is no answer to the query. */
  readonly read: (message: Buffer) => Outcome | undefined;
}

async function askByDatagram(
  origin: Origin,
  to: Destination,
  { query, read }: Exchange,
): Promise<Outcome> {
  const socket = await dialUdp(origin, to);
  const lapse = startStopwatch();
  try {
    return await firstOutcome((finish) => {
      socket.on('message', (message) => finish(read(message)));
      socket.on('error', (error) => finish(outcomeOfError(error, lapse)));
      socket.send(query);
    });
  } finally {
    socket.close();
  }
}

/** Over TCP, a length precedes each message. */
async function askByConnection(
  origin: Origin,
  to: Destination,
  { query, read }: Exchange,
): Promise<Outcome> {
  const socket = dialTcp(origin, to);
  const lapse = startStopwatch();
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(query.length);
  try {
    return await firstOutcome((finish) => {
      let received = Buffer.alloc(0);
      socket.on('data', (more: Buffer) => {
        received = Buffer.concat([received, more]);
        if (received.length < LENGTH_BYTES) return;
        const end = LENGTH_BYTES + received.readUInt16BE(0);
        if (received.length >= end) finish(read(received.subarray(LENGTH_BYTES, end)));
      });
      socket.on('error', (error) => finish(outcomeOfError(error, lapse)));
      socket.write(Buffer.concat([length, query]));
    });
  } finally {
    socket.destroy();
  }
}

async function firstOutcome(
  listen: (finish: (outcome: Outcome | undefined) => void) => void,
): Promise<Outcome> {
  return await new Promise<Outcome>((resolve) => {
    const callOff = afterSilence(SILENCE_MS, () => resolve({ kind: 'silent' }));
    listen((outcome) => {
      callOff();
      resolve(outcome ?? { kind: 'failed', code: 'not an answer to the query' });
    });
  });
}
