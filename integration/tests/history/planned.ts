import { paths } from '../../../lab/api/objects.ts';

/** A change of one object, and how the history must tell it. */
export interface Planned {
  /** Changes of one object share it. */
  readonly lane: number;
  readonly service: string;
  readonly path: string;
  readonly method: 'PUT' | 'PATCH';
  readonly body: object;
  readonly writer: string;
  readonly expected: readonly string[];
}

interface Slot {
  readonly address: string;
  readonly conditions: { ready: boolean; serving: boolean; terminating: boolean };
}

const READY = { ready: true, serving: true, terminating: false };
const NOT_READY = { ready: false, serving: false, terminating: false };
const LEAVING = { ready: false, serving: true, terminating: true };
const STATES = [
  ['ready', READY],
  ['not ready', NOT_READY],
  ['terminating, serving', LEAVING],
] as const;

/**
 * A script that always gives the same changes: endpoints join, leave and change their state, and
 * fields of Services change. Two writers for each object: within one second the API server does not
 * record which of several wrote last.
 */
export function plannedChanges(
  count: number,
  namespaces: readonly string[],
  servicesEach: number,
): readonly Planned[] {
  const services = namespaces.flatMap((namespace) =>
    Array.from({ length: servicesEach }, (_, index) => new Script(namespace, `web${index}`)),
  );
  return Array.from({ length: count }, (_, index) => {
    const lane = index % services.length;
    const script = services[lane] as Script;
    return { ...script.next(Math.floor(index / services.length)), lane };
  });
}

/** The state of one Service while the script is written. */
class Script {
  readonly #namespace: string;
  readonly #name: string;
  readonly #slots = new Map<string, string>([
    ['10.20.0.1', 'ready'],
    ['10.20.0.2', 'ready'],
  ]);
  #isLocal = false;

  constructor(namespace: string, name: string) {
    this.#namespace = namespace;
    this.#name = name;
  }

  next(round: number): Omit<Planned, 'lane'> {
    const service = `${this.#namespace}/${this.#name}`;
    const writer = `writer-${this.#name}-${round % 2}`;
    if (round % 5 === 4) return { service, writer, ...this.#changePolicy() };
    const expected = round % 5 === 3 ? this.#leave() : this.#joinOrChange(round);
    const endpoints = Array.from(this.#slots, ([address, state]): Slot => {
      const [, conditions = READY] = STATES.find(([name]) => name === state) ?? [];
      return { address, conditions };
    });
    return {
      service,
      writer,
      method: 'PUT',
      path: `${paths.slices(this.#namespace)}/${this.#name}-1`,
      body: sliceWith(this.#namespace, this.#name, endpoints),
      expected: [expected],
    };
  }

  #changePolicy(): Pick<Planned, 'method' | 'path' | 'body' | 'expected'> {
    this.#isLocal = !this.#isLocal;
    return {
      method: 'PATCH',
      path: paths.service(this.#namespace, this.#name),
      body: { spec: { internalTrafficPolicy: this.#isLocal ? 'Local' : 'Cluster' } },
      expected: ['spec.internalTrafficPolicy'],
    };
  }

  #leave(): string {
    const [[address, state] = ['', '']] = this.#slots;
    this.#slots.delete(address);
    return `${address}: ${state} to undefined`;
  }

  #joinOrChange(round: number): string {
    const address = `10.20.${1 + Math.floor(round / 250)}.${1 + (round % 250)}`;
    if (this.#slots.size < 3) {
      this.#slots.set(address, 'ready');
      return `${address}: undefined to ready`;
    }
    const known = [...this.#slots.keys()][round % this.#slots.size] ?? '';
    const before = this.#slots.get(known) ?? '';
    const after = STATES[(STATES.findIndex(([name]) => name === before) + 1) % STATES.length]?.[0];
    this.#slots.set(known, after ?? before);
    return `${known}: ${before} to ${after}`;
  }
}

/** A slice that no controller manages, with ready endpoints. */
export function sliceOf(namespace: string, service: string, addresses: readonly string[]): object {
  return sliceWith(
    namespace,
    service,
    addresses.map((address) => ({ address, conditions: READY })),
  );
}

function sliceWith(namespace: string, service: string, slots: readonly Slot[]): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${service}-1`,
      namespace,
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: 'IPv4',
    endpoints: slots.map(({ address, conditions }) => ({ addresses: [address], conditions })),
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  };
}
