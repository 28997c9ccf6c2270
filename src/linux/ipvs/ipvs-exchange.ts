import { genericFamily, NETLINK_GENERIC } from '../netlink/generic-family.ts';
import { dump, nextMessages, readAcknowledgement, request } from '../netlink/netlink-exchange.ts';
import { type Netlink, openNetlink, type ReceiveBuffers } from '../netlink/netlink-socket.ts';
import { IpvsEncoder } from './encoder.ts';
import { IpvsError } from './ipvs-error.ts';
import type { IpvsRejection, IpvsWrite, VirtualServerKey } from './ipvs-model.ts';
import * as ipvs from './ipvs-protocol.ts';

/** Holds a rejection of every message of a batch, each about a kilobyte of kernel memory. */
const RECEIVE_BUFFER_BYTES = 2 * 1024 * 1024;

/** A socket for messages of the family IPVS, for the time of one call. */
export class IpvsExchange implements Disposable {
  readonly #netlink: Netlink;
  readonly #encoder: IpvsEncoder;
  readonly #pace = new BatchPace();
  #sequence = 0;

  constructor(netlink: Netlink, family: number) {
    this.#netlink = netlink;
    this.#encoder = new IpvsEncoder(family);
  }

  /** Every message is answered when it is rejected; the last of a batch in any case. */
  async write(writes: readonly IpvsWrite[]): Promise<IpvsRejection[]> {
    const rejections: IpvsRejection[] = [];
    for (let from = 0; from < writes.length; ) {
      if (from > 0) await nextIteration();
      const to = await this.#sendFrom(writes, from);
      const first = this.#sequence - (to - from) + 1;
      for (const { sequence, errno } of await this.#rejectedUntil(this.#sequence)) {
        const write = writes[from + sequence - first];
        if (write !== undefined && sequence >= first) rejections.push({ write, errno });
      }
      from = to;
    }
    return rejections;
  }

  async list(
    command: number,
    asked: { readonly what: string; readonly server?: VirtualServerKey },
    onBody: (body: Buffer) => void,
  ): Promise<void> {
    const bytes = this.#question(command, { flags: ipvs.NLM_F_DUMP, ...asked });
    await dump(this.#netlink, { bytes, what: asked.what }, ({ body }) => onBody(body));
  }

  async ask(
    command: number,
    asked: {
      readonly what: string;
      readonly server?: VirtualServerKey;
      readonly numbers?: readonly (readonly [attribute: number, value: number])[];
    },
    onBody?: (body: Buffer) => void,
  ): Promise<void> {
    const bytes = this.#question(command, { flags: ipvs.NLM_F_ACK, ...asked });
    await request(this.#netlink, { bytes, what: asked.what }, ({ body }) => onBody?.(body));
  }

  [Symbol.dispose](): void {
    this.#netlink[Symbol.dispose]();
  }

  /** Gives the index after the last that was sent. */
  async #sendFrom(writes: readonly IpvsWrite[], from: number): Promise<number> {
    this.#encoder.clear();
    let to = from;
    for (; to < writes.length && this.#encoder.length < this.#pace.bytes; to++) {
      const write = writes[to];
      if (write !== undefined) this.#encoder.write(write, ++this.#sequence);
    }
    this.#encoder.acknowledgeLast();
    const { length } = this.#encoder;
    const startedAtMs = performance.now();
    await this.#netlink.send(this.#encoder.bytes);
    this.#pace.sent(length, performance.now() - startedAtMs);
    return to;
  }

  async #rejectedUntil(last: number): Promise<{ sequence: number; errno: number }[]> {
    const rejected: { sequence: number; errno: number }[] = [];
    for (;;) {
      for (const message of await nextMessages(this.#netlink, 'write virtual servers')) {
        const answer = readAcknowledgement(message);
        if (answer === undefined) continue;
        if (answer.errno !== 0) rejected.push(answer);
        if (answer.sequence === last) return rejected;
      }
    }
  }

  #question(
    command: number,
    asked: {
      readonly flags: number;
      readonly server?: VirtualServerKey;
      readonly numbers?: readonly (readonly [attribute: number, value: number])[];
    },
  ): Buffer {
    this.#encoder.clear();
    this.#encoder.question(command, { ...asked, sequence: ++this.#sequence });
    return this.#encoder.bytes;
  }
}

/** Asks for the number of the family each time: it changes when the module is loaded again. */
export async function openIpvsExchange(buffers?: ReceiveBuffers): Promise<IpvsExchange> {
  const netlink = openNetlink({
    protocol: NETLINK_GENERIC,
    receiveBufferBytes: RECEIVE_BUFFER_BYTES,
    ...(buffers === undefined ? {} : { buffers }),
  });
  try {
    const family = await genericFamily(netlink, ipvs.FAMILY_NAME);
    if (family === undefined) throw new IpvsError('IPVS_MISSING');
    return new IpvsExchange(netlink, family);
  } catch (error) {
    netlink[Symbol.dispose]();
    throw error;
  }
}

export function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A send of less than 32 KiB needs no thread. */
const MOST_BYTES = 30 * 1024;
/** About eight messages. */
const LEAST_BYTES = 1024;
const FIRST_BYTES = 4 * 1024;
/** The event loop stands still meanwhile. */
const LONGEST_MS = 4;

/**
 * How much is sent at once. Most messages take the kernel microseconds, but one about a destination
 * of a server with scheduler \`mh\` fills a table anew, and one that adds a destination after thousands
 * were deleted is compared with all of those: a batch grows while it takes little time, and shrinks.
 */
export class BatchPace {
  #bytes = FIRST_BYTES;

  get bytes(): number {
    return this.#bytes;
  }

  sent(bytes: number, tookMs: number): void {
    const possible = tookMs > 0 ? (bytes * LONGEST_MS) / tookMs : MOST_BYTES;
    const next = Math.min(possible, this.#bytes * 2, MOST_BYTES);
    this.#bytes = Math.max(LEAST_BYTES, Math.floor(next));
  }
}
