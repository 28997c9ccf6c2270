import { healthCheckOf } from '../forwarding/health.ts';
import {
  type Family,
  type ServicePortId,
  type ServicePortKey,
  servicePortKey,
} from '../forwarding/model.ts';
import type { ForwardingTable } from '../forwarding/table.ts';
import { serviceOf } from './outstanding-entry.ts';

export interface ServiceHealthCheck {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** Ready endpoints on this node, for each family that the Service has. */
  readonly localEndpoints: Readonly<Partial<Record<Family, number>>>;
}

export interface HealthChecksOptions {
  readonly table: ForwardingTable;
  /** Whether the kernel has not got this row as it is desired. */
  readonly isOutstanding: (key: ServicePortKey) => boolean;
  readonly onChange: (service: string, check: ServiceHealthCheck | undefined) => void;
}

/**
 * The state of the health ports of Services, for load balancers. Fewer endpoints are reported at
 * once, more endpoints when the kernel has the rows for them.
 */
export class HealthChecks {
  readonly #options: HealthChecksOptions;
  readonly #checks = new Map<string, ServiceHealthCheck>();
  /** The cluster changed something of them, and their rows may not have been compiled since. */
  readonly #received = new Set<string>();
  readonly #touched = new Set<string>();
  /** Increases that are reported when the kernel has the rows, as counted. */
  readonly #waiting = new Map<string, ServiceHealthCheck>();
  /** The pending ones with a row that the kernel has accepted since. */
  readonly #settled = new Set<string>();
  /** Slices that were counted, and the Service they were counted for. */
  readonly #countedFor = new Map<string, string>();

  constructor(options: HealthChecksOptions) {
    this.#options = options;
  }

  /** By `namespace/name`; only Services that have a health port. */
  get all(): ReadonlyMap<string, ServiceHealthCheck> {
    return this.#checks;
  }

  serviceChanged(service: string): void {
    if (this.#isRelevant(service)) this.#received.add(service);
  }

  sliceChanged(key: string): void {
    const service = this.#countedFor.get(key);
    this.#countedFor.delete(key);
    if (service !== undefined) this.#received.add(service);
  }

  /** The rows of the Service are compiled: from now on it is known whether the kernel has them. */
  serviceTaken(service: string): void {
    this.#received.delete(service);
    if (this.#isRelevant(service)) this.#touched.add(service);
  }

  /** Those of every Service are. */
  allTaken(): void {
    for (const service of this.#received) this.#touched.add(service);
    this.#received.clear();
  }

  /** The kernel has a row as it is desired. */
  rowSettled(id: ServicePortId): void {
    if (this.#waiting.size > 0 && this.#waiting.has(serviceOf(id)))
      this.#settled.add(serviceOf(id));
  }

  /** Counts again where something changed, and only there: many may wait for many steps. */
  refresh(): void {
    for (const service of [...this.#touched].sort()) this.#tell(service, this.#count(service));
    for (const service of [...this.#settled].sort()) {
      if (!this.#touched.has(service)) this.#tell(service, this.#waiting.get(service));
    }
    this.#touched.clear();
    this.#settled.clear();
  }

  #tell(service: string, counted: ServiceHealthCheck | undefined): void {
    const before = this.#checks.get(service);
    const waits = counted !== undefined && this.#isOutstanding(service);
    if (waits) this.#waiting.set(service, counted);
    else this.#waiting.delete(service);
    const check = counted && waits ? worseOf(counted, before) : counted;
    if (JSON.stringify(check) === JSON.stringify(before)) return;
    if (check === undefined) this.#checks.delete(service);
    else this.#checks.set(service, check);
    this.#options.onChange(service, check);
  }

  #isRelevant(service: string): boolean {
    const port = this.#options.table.service(service)?.healthCheckNodePort ?? 0;
    return port !== 0 || this.#checks.has(service);
  }

  #count(name: string): ServiceHealthCheck | undefined {
    const { table } = this.#options;
    const service = table.service(name);
    if (service === undefined || service.healthCheckNodePort === 0) return undefined;
    const slices = table.slicesOf(name);
    for (const slice of slices) this.#countedFor.set(`${slice.namespace}/${slice.name}`, name);
    const localEndpoints: Partial<Record<Family, number>> = {};
    let port = 0;
    for (const family of new Set(table.ofService(name).map(({ id }) => id.family))) {
      const check = healthCheckOf({ service, slices, family, view: table.view });
      if (check === undefined) continue;
      localEndpoints[family] = check.localEndpoints;
      port = check.port;
    }
    if (port === 0) return undefined;
    return { namespace: service.namespace, name: service.name, port, localEndpoints };
  }

  #isOutstanding(service: string): boolean {
    const { table, isOutstanding } = this.#options;
    return table.ofService(service).some(({ id }) => isOutstanding(servicePortKey(id)));
  }
}

function worseOf(
  counted: ServiceHealthCheck,
  before: ServiceHealthCheck | undefined,
): ServiceHealthCheck {
  const localEndpoints: Partial<Record<Family, number>> = {};
  for (const [family, count] of Object.entries(counted.localEndpoints) as [Family, number][]) {
    localEndpoints[family] = Math.min(count, before?.localEndpoints[family] ?? 0);
  }
  return { ...counted, localEndpoints };
}
