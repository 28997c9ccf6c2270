import type { Service, ServicePort } from '../lab/api/objects.ts';
import type { Pod } from '../lab/kubelet/pods.ts';
import type { Lab } from '../lab/lab.ts';
import {
  type AddressPair,
  externalAddress,
  type Family,
  nodeAddress,
} from '../lab/network/plan.ts';
import type { ServiceDeclaration } from './scenario.ts';

/** Addresses for the scenarios of one lab, each given out once. */
export class AddressPool {
  #lastExternal = 0;
  #lastClusterIp = 255;
  #lastNodePort = 29_999;

  external(): AddressPair {
    return externalAddress(++this.#lastExternal);
  }

  /** From the lower end of the service range, which the API server reserves for explicit requests. */
  clusterIp(): AddressPair {
    const serial = ++this.#lastClusterIp;
    return {
      ipv4: `10.96.${serial >> 8}.${serial & 0xff}`,
      ipv6: `fd00:96::${serial.toString(16)}`,
    };
  }

  /** From the lower end of the range, which the API server reserves for explicit requests. */
  nodePort(): number {
    return ++this.#lastNodePort;
  }
}

/** What scenarios may do to Fairlead on the machine outside. */
export interface OutsideAgent {
  readonly isRunning: boolean;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Runs `fairlead cleanup`; it must not be running. */
  cleanUp(): Promise<void>;
}

/** The part of a lab that one scenario lives in: a Kubernetes namespace and what is in it. */
export class World implements AsyncDisposable {
  readonly lab: Lab;
  readonly namespace: string;
  /** Where Fairlead runs on the machine and on no node. */
  readonly outside: OutsideAgent | undefined;
  readonly pods = new Map<string, Pod>();
  /** Pods that were asked to end and are still there. */
  readonly terminating = new Set<string>();
  readonly notReady = new Set<string>();
  readonly declarations = new Map<string, ServiceDeclaration>();
  readonly services = new Map<string, Service>();
  /** What the scenario has started on nodes, by name. */
  readonly #started = new Map<string, AsyncDisposable>();
  readonly #deleted = new Map<string, Service>();
  readonly #pool: AddressPool;
  readonly #addresses = new Map<string, AddressPair>();
  readonly #nodePorts = new Map<string, number>();
  /** Which pod each source address met, by the name of the note. */
  readonly #sources = new Map<string, ReadonlyMap<string, string>>();

  constructor(
    place: { lab: Lab; addresses: AddressPool; outside?: OutsideAgent | undefined },
    namespace: string,
  ) {
    this.lab = place.lab;
    this.namespace = namespace;
    this.outside = place.outside;
    this.#pool = place.addresses;
  }

  /**
   * The address that the scenario calls by this name; drawn when first named. `cluster-ip:NAME` is
   * what a Service of that name gets with `fixedClusterIPs`, `node:N` a node's own.
   */
  address(name: string): AddressPair {
    const [kind, of] = name.split(':', 2);
    if (kind === 'cluster-ip' && of !== undefined) return this.fixedClusterIp(of);
    if (kind === 'node' && of !== undefined) return nodeAddress(Number(of));
    return this.#draw(name, () => this.#pool.external());
  }

  fixedClusterIp(service: string): AddressPair {
    return this.#draw(`cluster-ip:${service}`, () => this.#pool.clusterIp());
  }

  /** The number that the scenario calls by this name; drawn when first named. */
  nodePort(name: string): number {
    const drawn = this.#nodePorts.get(name) ?? this.#pool.nodePort();
    this.#nodePorts.set(name, drawn);
    return drawn;
  }

  noteSources(name: string, family: Family, met: ReadonlyMap<string, string>): void {
    this.#sources.set(`${name}/${family}`, met);
  }

  noted(name: string, family: Family): ReadonlyMap<string, string> {
    return known(this.#sources.get(`${name}/${family}`), `note '${name}'`);
  }

  pod(name: string): Pod {
    return known(this.pods.get(name), `pod '${name}'`);
  }

  service(name: string): Service {
    return known(this.services.get(name) ?? this.#deleted.get(name), `service '${name}'`);
  }

  servicePort(name: string, port?: string | number): ServicePort {
    const ports = this.service(name).spec.ports ?? [];
    const found =
      port === undefined
        ? ports[0]
        : ports.find((candidate) => candidate.name === port || candidate.port === port);
    return known(found, `port '${port}' of service '${name}'`);
  }

  /** A deleted Service can still be asked for at its old addresses. */
  forget(name: string): void {
    this.#deleted.set(name, this.service(name));
    this.services.delete(name);
  }

  note(name: string, started: AsyncDisposable): void {
    this.#started.set(name, started);
  }

  async stop(name: string): Promise<void> {
    const started = known(this.#started.get(name), `process '${name}'`);
    this.#started.delete(name);
    await started[Symbol.asyncDispose]();
  }

  /** Stops what a scenario has left running on nodes, which other scenarios use too. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of [...this.#started.keys()]) await this.stop(name);
  }

  #draw(name: string, draw: () => AddressPair): AddressPair {
    const drawn = this.#addresses.get(name) ?? draw();
    this.#addresses.set(name, drawn);
    return drawn;
  }
}

function known<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new TypeError(`the scenario names no ${what}`);
  return value;
}
