import { healthCheckOf } from '../forwarding/health.ts';
import { type Family, type ServicePortKey, servicePortKey } from '../forwarding/model.ts';
import type { ForwardingTable } from '../forwarding/table.ts';

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
 * What the health ports of Services must tell load balancers. Worse news is told at once, better
 * news when the kernel has the rows that make it true.
 */
export class HealthChecks {
  readonly #options: HealthChecksOptions;
  readonly #checks = new Map<string, ServiceHealthCheck>();
  readonly #touched = new Set<string>();
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
    const has = this.#options.table.service(service)?.healthCheckNodePort ?? 0;
    if (has !== 0 || this.#checks.has(service)) this.#touched.add(service);
  }

  sliceChanged(key: string): void {
    const service = this.#countedFor.get(key);
    this.#countedFor.delete(key);
    if (service !== undefined) this.#touched.add(service);
  }

  /** Counts again where something changed. */
  refresh(): void {
    for (const service of [...this.#touched].sort()) {
      const counted = this.#count(service);
      const before = this.#checks.get(service);
      const waits = counted !== undefined && this.#isOutstanding(service);
      if (!waits) this.#touched.delete(service);
      const check = counted && waits ? worseOf(counted, before) : counted;
      if (JSON.stringify(check) === JSON.stringify(before)) continue;
      if (check === undefined) this.#checks.delete(service);
      else this.#checks.set(service, check);
      this.#options.onChange(service, check);
    }
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
