import type { Conntrack } from '../../../linux/conntrack/conntrack.ts';
import { STATUS_DST_NAT } from '../../../linux/conntrack/conntrack-protocol.ts';
import type { Flow, FlowTuple } from '../../../linux/conntrack/flow.ts';
import type { FlowQuestion } from '../../../linux/conntrack/question.ts';
import type { BpfObject } from '../../../linux/ebpf/bpf-object.ts';
import type { BpfProgram } from '../../../linux/ebpf/bpf-program.ts';
import { runIterator } from '../../../linux/ebpf/iterator.ts';
import { type LoadedObject, loadObject } from '../../../linux/ebpf/load-object.ts';
import type { BpfMap } from '../../../linux/ebpf/map.ts';
import type { Binary } from './maps/binary.ts';
import { ADDRESS_BYTES, ENDED_KEY, PEER, PROTOCOL_NUMBER } from './maps/layout.ts';
import { openMaps } from './maps/map-set.ts';
import { Pins } from './pins.ts';

const IPV4_MAPPED = `${'\0'.repeat(10)}\xff\xff`;
const END_DEADLINE_MS = 10_000;
const PRESENT = Buffer.from([1, 0, 0, 0]);

export interface SocketFlowsOptions {
  readonly readObject: () => BpfObject;
  readonly pinFolder: string;
  /** Paths of the network namespaces whose sockets are iterated. */
  readonly namespaces: () => readonly string[];
  readonly onProblem: (error: unknown) => void;
}

interface Iterators {
  readonly loaded: LoadedObject;
  readonly maps: ReadonlyMap<string, BpfMap>;
  readonly ended: BpfMap;
  readonly list: BpfProgram;
  readonly end: BpfProgram;
}

/**
 * Connected UDP sockets as flows: where a connection was translated at the socket, conntrack has no
 * entry for it, and the socket keeps its endpoint until it is destroyed. Programs get ECONNABORTED
 * then, and connect again.
 */
export class SocketFlows implements Conntrack {
  readonly #options: SocketFlowsOptions;
  #iterators: Iterators | 'missing' | undefined;
  /** Codes of errors that were reported already. */
  readonly #told = new Set<string>();

  constructor(options: SocketFlowsOptions) {
    this.#options = options;
  }

  filtersCheaply(): boolean {
    return true;
  }

  async *flows(question: FlowQuestion, signal: AbortSignal): AsyncGenerator<readonly Flow[]> {
    if (!question.protocols.has(PROTOCOL_NUMBER.UDP) || !this.#opened()) return;
    for (const networkNamespace of this.#options.namespaces()) {
      // The consumer of the flows so far may have replaced the maps meanwhile.
      const iterators = this.#opened();
      if (!iterators) return;
      const peers = await this.#run(iterators.list, networkNamespace, signal);
      const flows: Flow[] = [];
      for (let at = 0; at + PEER.bytes <= peers.length; at += PEER.bytes) {
        const flow = flowOf(peers, at);
        if (question.destinationPorts.has(flow.original.destinationPort)) flows.push(flow);
      }
      if (flows.length > 0) yield flows;
    }
  }

  /** Sockets with the same two addresses are not distinguished: if one is stale, all are. */
  async remove(flows: readonly Flow[]): Promise<readonly Flow[]> {
    const iterators = this.#opened();
    if (!iterators || flows.length === 0) return [];
    const keys = new Map(flows.map((flow) => [endedKey(flow), flow]));
    const signal = AbortSignal.timeout(END_DEADLINE_MS);
    const done = new Set<Binary>();
    try {
      for (const key of keys.keys()) iterators.ended.update(Buffer.from(key, 'latin1'), PRESENT);
      for (const networkNamespace of this.#options.namespaces()) {
        const ended = await this.#run(iterators.end, networkNamespace, signal);
        for (let at = 0; at + ENDED_KEY.bytes <= ended.length; at += ENDED_KEY.bytes) {
          done.add(ended.toString('latin1', at, at + ENDED_KEY.bytes));
        }
      }
    } catch (error) {
      this.#tell(error);
    } finally {
      for (const key of keys.keys()) iterators.ended.delete(Buffer.from(key, 'latin1'));
    }
    return flows.filter((flow) => done.has(endedKey(flow)));
  }

  /** Other flows and other namespaces come after these: an error here must not stop them. */
  async #run(program: BpfProgram, networkNamespace: string, signal: AbortSignal): Promise<Buffer> {
    try {
      return await runIterator(program, { networkNamespace, signal });
    } catch (error) {
      if (signal.aborted) throw error;
      if (!isGone(error)) this.#tell(error);
      return Buffer.alloc(0);
    }
  }

  /** Once for each kind of trouble: a pass goes over every pod. */
  #tell(error: unknown): void {
    const code = String((error as NodeJS.ErrnoException).code ?? error);
    if (this.#told.has(code)) return;
    this.#told.add(code);
    this.#options.onProblem(error);
  }

  #opened(): Iterators | undefined {
    if (this.#iterators === 'missing') return undefined;
    const pins = new Pins(this.#options.pinFolder);
    if (this.#iterators && isStillPinned(this.#iterators, pins)) return this.#iterators;
    this.#close();
    const maps = openMaps(pins);
    if (!maps) return undefined;
    try {
      this.#iterators = this.#loadedOn(maps);
    } catch (error) {
      // Before Linux 6.5 a socket cannot be destroyed from outside: then it stays until it fails.
      for (const map of maps.values()) map.close();
      this.#iterators = 'missing';
      this.#options.onProblem(error);
      return undefined;
    }
    return this.#iterators;
  }

  #loadedOn(maps: ReadonlyMap<string, BpfMap>): Iterators | undefined {
    const programs = [{ name: 'list_udp' }, { name: 'end_udp' }];
    const loaded = loadObject(this.#options.readObject(), { maps, programs });
    const ended = maps.get('ended');
    const list = loaded.programs.get('list_udp');
    const end = loaded.programs.get('end_udp');
    if (!ended || !list || !end) throw new TypeError('the object has no iterators');
    // A process that died while it ended sockets has left cookies that may match again.
    for (let key = ended.nextKey(undefined); key; key = ended.nextKey(undefined)) ended.delete(key);
    return { loaded, maps, ended, list, end };
  }

  #close(): void {
    if (!this.#iterators || this.#iterators === 'missing') return;
    this.#iterators.loaded.close();
    for (const map of this.#iterators.maps.values()) map.close();
    this.#iterators = undefined;
  }
}

/** Recreated maps have other sockets. */
function isStillPinned({ maps }: Iterators, pins: Pins): boolean {
  return pins.mapId('connected') === maps.get('connected')?.id;
}

/** The sockets of a namespace that is gone, or cannot be entered now, are gone with it. */
function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES';
}

function flowOf(peers: Buffer, at: number): Flow {
  const asked = addressAt(peers, at + PEER.virtualAddress);
  const got = addressAt(peers, at + PEER.address);
  return {
    version: asked.length === 4 ? 4 : 6,
    protocol: PROTOCOL_NUMBER.UDP,
    original: to(asked, peers.readUInt16BE(at + PEER.virtualPort)),
    reply: from(got, peers.readUInt16BE(at + PEER.port)),
    status: STATUS_DST_NAT,
    id: 0,
    zone: 0,
    mark: 0,
    timeoutSeconds: 0,
    tcpState: undefined,
  };
}

function to(destination: string, destinationPort: number): FlowTuple {
  return { source: '', sourcePort: 0, destination, destinationPort };
}

function from(source: string, sourcePort: number): FlowTuple {
  return { source, sourcePort, destination: '', destinationPort: 0 };
}

function addressAt(peers: Buffer, at: number): string {
  const bytes = peers.toString('latin1', at, at + ADDRESS_BYTES);
  return bytes.startsWith(IPV4_MAPPED) ? bytes.slice(IPV4_MAPPED.length) : bytes;
}

function endedKey({ original, reply }: Flow): Binary {
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(original.destinationPort, 0);
  ports.writeUInt16BE(reply.sourcePort, 2);
  return mapped(original.destination) + mapped(reply.source) + ports.toString('latin1');
}

function mapped(address: string): string {
  return address.length === 4 ? IPV4_MAPPED + address : address;
}
