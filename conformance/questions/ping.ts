import { type Destination, dialPing, type Origin } from '../../lab/host/sockets.ts';
import { type Outcome, outcomeOfError, SILENCE_MS } from './outcome.ts';
import { afterSilence } from './silence.ts';
import { startStopwatch } from './stopwatch.ts';

const ECHO_REQUEST = { ipv4: 8, ipv6: 128 } as const;
const ECHO_REPLY = { ipv4: 0, ipv6: 129 } as const;
const HEADER_BYTES = 8;
const PAYLOAD = Buffer.from('fairlead conformance');

/**
 * One echo request. The kernel fills in identifier and checksum, and delivers to this socket only
 * what comes from the address that was asked.
 */
export async function askPing(origin: Origin, to: Pick<Destination, 'address'>): Promise<Outcome> {
  const socket = await dialPing(origin, to);
  const lapse = startStopwatch();
  const family = to.address.includes(':') ? 'ipv6' : 'ipv4';
  try {
    return await new Promise<Outcome>((resolve) => {
      const callOff = afterSilence(SILENCE_MS, () => resolve({ kind: 'silent' }));
      const finish = (outcome: Outcome): void => {
        callOff();
        resolve(outcome);
      };
      socket.on('message', (message) => finish(outcomeOfReply(message, ECHO_REPLY[family])));
      socket.on('error', (error) => finish(outcomeOfError(error, lapse)));
      socket.send(echoRequest(ECHO_REQUEST[family]), (error) => {
        // The node's own rules turned it away: whether they say so by ICMP, the socket hears next.
        if (error && (error as NodeJS.ErrnoException).code !== 'EPERM') {
          finish(outcomeOfError(error, lapse));
        }
      });
    });
  } finally {
    socket.close();
  }
}

function echoRequest(type: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(type, 0);
  return Buffer.concat([header, PAYLOAD]);
}

/** A reply repeats the payload; another type of message, or another payload, is none. */
export function outcomeOfReply(message: Buffer, replyType: number): Outcome {
  if (message[0] !== replyType) return { kind: 'failed', code: `ICMP type ${message[0]}` };
  if (!message.subarray(HEADER_BYTES).equals(PAYLOAD)) {
    return { kind: 'failed', code: 'another payload came back' };
  }
  return { kind: 'echoed' };
}
