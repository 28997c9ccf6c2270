import { readTraffic, type StatusRequest } from '../../agent/servers/status-client.ts';
import type {
  ServedPage,
  ServedPort,
  SomeCounts,
  Timed,
} from '../../agent/servers/traffic-pages.ts';
import { TRAFFIC_PATHS } from '../../agent/servers/traffic-routes.ts';
import type { EndpointCount, RejectedCount } from '../../dataplanes/contract.ts';
import type { ServicePortKey } from '../../forwarding/model.ts';
import type { CountReading } from './endpoint-rates.ts';

/** Every service port. */
export interface Served {
  readonly ports: readonly ServedPort[];
  /** To ask for the next time. Absent: an older agent, which gives all of them each time. */
  readonly version?: string | undefined;
}

/** What the agent answers. */
export interface AgentSource {
  /** Undefined: all are as they were at this version. */
  served(version?: string): Promise<Served | undefined>;
  /** Of some Services, `namespace/name`; one that has no ports has none here. */
  servedOf(services: readonly string[]): Promise<readonly ServedPort[]>;
  counts(keys: readonly ServicePortKey[]): Promise<Timed<CountReading>>;
  rejected(): Promise<Timed<readonly RejectedCount[] | undefined>>;
  totals(): Promise<Timed<ReadonlyMap<ServicePortKey, number> | undefined>>;
}

/** The longest head of a request is 8 kB; names may be long, and are escaped. */
const MOST_PATH_LENGTH = 6_000;
/** A mode that has to read all its rules for this may have very many. */
const DEADLINE_MS = 60_000;

export function agentSource(socketPath: string): AgentSource {
  const request: StatusRequest = { socketPath, timeoutMs: DEADLINE_MS };
  const read = async <T>(path: string): Promise<T> => await readTraffic<T>(path, request);
  return {
    served: async (known) => {
      const path = known === undefined ? TRAFFIC_PATHS.served : TRAFFIC_PATHS.servedSince(known);
      let page = await read<ServedPage>(path);
      if (page.isUnchanged) return undefined;
      const { version } = page;
      const ports = [...page.ports];
      while (page.lastService !== undefined) {
        page = await read<ServedPage>(TRAFFIC_PATHS.servedAfter(page.lastService));
        for (const port of page.ports) ports.push(port);
      }
      return { ports, version };
    },
    servedOf: async (services) => {
      const ports: ServedPort[] = [];
      for (const path of pathsOf(TRAFFIC_PATHS.servedOf, services)) {
        for (const port of (await read<ServedPage>(path)).ports) ports.push(port);
      }
      return ports;
    },
    counts: async (keys) => {
      const counts: EndpointCount[] = [];
      const empty: ServicePortKey[] = [];
      const leftOut: ServicePortKey[] = [];
      let tookMs = 0;
      for (const path of pathsOf(TRAFFIC_PATHS.counts, keys)) {
        const answer = await read<Timed<SomeCounts>>(path);
        for (const count of answer.value.counts) counts.push(count);
        empty.push(...answer.value.empty);
        leftOut.push(...answer.value.leftOut);
        tookMs += answer.tookMs;
      }
      return { tookMs, value: { counts, empty, leftOut } };
    },
    rejected: async () => await read(TRAFFIC_PATHS.rejected),
    totals: async () => {
      const { tookMs, value } = await read<Timed<[ServicePortKey, number][] | undefined>>(
        TRAFFIC_PATHS.totals,
      );
      return { tookMs, value: value && new Map(value) };
    },
  };
}

/** As few questions as there is room for. */
function pathsOf(pathOf: (names: readonly string[]) => string, names: readonly string[]): string[] {
  const paths: string[] = [];
  let some: string[] = [];
  for (const name of names) {
    if (some.length > 0 && pathOf([...some, name]).length > MOST_PATH_LENGTH) {
      paths.push(pathOf(some));
      some = [];
    }
    some.push(name);
  }
  return some.length === 0 ? paths : [...paths, pathOf(some)];
}
