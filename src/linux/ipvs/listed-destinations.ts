import { canonicalIp } from '../../addresses/ip.ts';
import { type DestinationState, type IpvsProtocol, virtualServerId } from './ipvs-model.ts';
import { readListing } from './listing.ts';

const SPACE = 0x20;
const BRACKET = 0x5b;
const IPV4_DIGITS = 8;
const IPV6_LETTERS = 39;
const PROTOCOLS: ReadonlyMap<string, IpvsProtocol> = new Map(
  (['TCP', 'UDP', 'SCTP'] as const).map((name) => [name, name]),
);
const FORWARDING: ReadonlyMap<string, 'local' | 'tunnel' | 'route'> = new Map([
  ['Local', 'local'],
  ['Tunnel', 'tunnel'],
  ['Route', 'route'],
]);

/** The destinations of the virtual servers that the kernel lists, by `virtualServerId`. */
export async function listedDestinations(): Promise<Map<string, DestinationState[]>> {
  const found = new Map<string, DestinationState[]>();
  let current: DestinationState[] | undefined;
  await readListing((bytes, from, to) => {
    if (bytes[from] === SPACE) current?.push(destinationOf(new Words(bytes, from, to)));
    else {
      const id = serverOf(new Words(bytes, from, to));
      current = id === undefined ? undefined : [];
      if (id !== undefined && current) found.set(id, current);
    }
  });
  return found;
}

/** `TCP  0A600001:0050 rr` or `TCP  [fd00:…]:0050 rr`; undefined: a head line, or a packet mark. */
function serverOf(words: Words): string | undefined {
  const protocol = PROTOCOLS.get(words.text());
  if (protocol === undefined) return undefined;
  return virtualServerId({ protocol, ...words.endpoint() });
}

/** `  -> 0A800001:1F90      Masq    1      0          0`. */
function destinationOf(words: Words): DestinationState {
  words.skip();
  const { address, port } = words.endpoint();
  const forwarding = FORWARDING.get(words.text());
  return {
    address,
    port,
    weight: words.number(),
    activeConnections: words.number(),
    inactiveConnections: words.number(),
    ...(forwarding === undefined ? {} : { forwarding }),
  };
}

/** Reads a line word by word. */
class Words {
  readonly #bytes: Buffer;
  readonly #to: number;
  #at: number;

  constructor(bytes: Buffer, from: number, to: number) {
    this.#bytes = bytes;
    this.#at = from;
    this.#to = to;
  }

  skip(): void {
    this.#toWord();
    while (this.#at < this.#to && this.#bytes[this.#at] !== SPACE) this.#at++;
  }

  text(): string {
    this.#toWord();
    const from = this.#at;
    this.skip();
    return this.#bytes.toString('latin1', from, this.#at);
  }

  number(): number {
    this.#toWord();
    let value = 0;
    for (; this.#at < this.#to && this.#bytes[this.#at] !== SPACE; this.#at++) {
      value = value * 10 + ((this.#bytes[this.#at] ?? 0) - 0x30);
    }
    return value;
  }

  endpoint(): { address: string; port: number } {
    this.#toWord();
    if (this.#bytes[this.#at] !== BRACKET) {
      const address = this.#hex(IPV4_DIGITS);
      this.#at += 1;
      return { address: dotted(address), port: this.#hex(4) };
    }
    const from = this.#at + 1;
    this.#at = from + IPV6_LETTERS;
    const text = this.#bytes.toString('latin1', from, this.#at);
    this.#at += 2;
    return { address: canonicalIp(text) ?? text, port: this.#hex(4) };
  }

  #hex(digits: number): number {
    let value = 0;
    for (const end = this.#at + digits; this.#at < end; this.#at++) {
      const code = this.#bytes[this.#at] ?? 0;
      // 0 to 9, then A to F or a to f.
      value = value * 16 + (code < 0x40 ? code - 0x30 : (code & 0x0f) + 9);
    }
    return value;
  }

  #toWord(): void {
    while (this.#at < this.#to && this.#bytes[this.#at] === SPACE) this.#at++;
  }
}

function dotted(number: number): string {
  return `${number >>> 24}.${(number >>> 16) & 0xff}.${(number >>> 8) & 0xff}.${number & 0xff}`;
}
