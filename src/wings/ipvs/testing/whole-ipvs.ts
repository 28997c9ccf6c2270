import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type {
  DataPlane,
  Drift,
  Inspection,
  InspectionDepth,
  NodeFacts,
} from '../../../dataplanes/contract.ts';
import { isApplied } from '../../../dataplanes/row-change.ts';
import {
  type Endpoint,
  type Forwarding,
  type Frontend,
  type Outcome,
  type Protocol,
  servicePortKey,
} from '../../../forwarding/model.ts';
import { enterOwnNetwork, ip } from '../../../linux/netlink/testing/own-namespace.ts';
import { SERVED_PORT, startHost } from '../../../linux/testing/hosts/host.ts';
import type { Answer } from '../../../linux/testing/hosts/host-messages.ts';
import { joinOutside, joinPod, type PlacedHost } from '../../../linux/testing/hosts/placed-host.ts';
import type { OpenMode } from '../../../modes/mode.ts';
import type { IpvsFields } from '../ipvs-fields.ts';
import { IPVS } from '../ipvs-mode.ts';
import type { IpvsReport } from '../plane/ipvs-report.ts';

export const NODE = '192.0.2.1';

const IPVS_FACTS: NodeFacts = {
  podDetection: {
    IPv4: { by: 'cidr', cidr: '10.244.0.0/16' },
    IPv6: { by: 'cidr', cidr: 'fd44::/16' },
  },
  nodePortAddresses: { IPv4: [NODE], IPv6: ['fd77::1'] },
  ownAddresses: [NODE, 'fd77::1'],
  serviceRanges: ['10.96.0.0/16', 'fd96::/112'],
  masqueradeMark: 0x4000,
};

/** A node with pods and a client outside, without what the eBPF modes need. */
export interface IpvsSite {
  readonly client: PlacedHost;
  readonly endpoints: readonly [PlacedHost, PlacedHost, PlacedHost];
  readonly outside: PlacedHost;
  leave(): void;
}

export async function ipvsSite(): Promise<IpvsSite> {
  enterOwnNetwork();
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1');
  writeFileSync('/proc/sys/net/ipv6/conf/all/forwarding', '1');
  const pod = async (name: string, number: number) => joinPod(await startHost(name), number);
  const outside = joinOutside(await startHost('outside'));
  const client = await pod('client', 1);
  const endpoints = [await pod('e1', 2), await pod('e2', 3), await pod('e3', 4)] as const;
  // Without a route nothing is forwarded, and so nothing is rejected by a rule there.
  ip(`route add default via ${endpoints[2].ipv4}`);
  const leave = (): void => {
    for (const host of [outside, client, ...endpoints]) host.close();
  };
  return { client, endpoints: [...endpoints], outside, leave };
}

const plain: Outcome = { action: 'forward', list: 'cluster', masquerade: false };
const masqueraded: Outcome = { action: 'forward', list: 'cluster', masquerade: true };

export function clusterIp(address: string): Frontend {
  const outcomes = { pod: plain, host: masqueraded, outside: masqueraded };
  return { kind: 'cluster-ip', address, port: 80, outcomes };
}

export function nodePort(port: number): Frontend {
  const outcomes = { pod: masqueraded, host: masqueraded, outside: masqueraded };
  return { kind: 'node-port', address: '', port, outcomes };
}

export function service(
  name: string,
  frontends: readonly Frontend[],
  parts: { readonly hosts: readonly PlacedHost[]; readonly protocol?: Protocol },
): Forwarding {
  const endpoints = parts.hosts.map(
    ({ ipv4 }): Endpoint => ({ address: ipv4, port: SERVED_PORT, local: true }),
  );
  const { protocol = 'TCP' } = parts;
  return {
    id: { namespace: 'ns', service: name, port: '', protocol, family: 'IPv4' },
    frontends,
    clusterEndpoints: endpoints,
    localEndpoints: endpoints,
    affinitySeconds: 0,
  };
}

/** A mode as the agent runs it: drift leads to an inspection, and rows to changes. */
export class WholeIpvs implements AsyncDisposable {
  readonly opened: OpenMode;
  readonly plane: DataPlane;
  readonly drifts: Drift[] = [];
  readonly warnings: string[] = [];
  #rows: readonly Forwarding[] = [];
  readonly #stop = new AbortController();
  #busy: Promise<unknown> = Promise.resolve();
  #watch: Promise<void> = Promise.resolve();

  readonly #facts: NodeFacts;

  constructor(mode = IPVS, facts: Partial<NodeFacts> = {}) {
    this.#facts = { ...IPVS_FACTS, ...facts };
    this.opened = mode.open({ onWarning: (message) => this.warnings.push(message) });
    this.plane = this.opened.plane;
  }

  /** As `fairlead status` has it. */
  async report(): Promise<IpvsReport | undefined> {
    const fields = (await this.opened.statusFields?.(0)) as IpvsFields | undefined;
    return fields?.ipvs;
  }

  /** Gives what the inspection found before anything was written. */
  async start(rows: readonly Forwarding[]): Promise<Inspection> {
    this.#rows = rows;
    const inspection = await this.inspect();
    this.#watch = this.plane.watch((drift) => this.#take(drift), this.#stop.signal);
    return inspection;
  }

  async change(rows: readonly Forwarding[]): Promise<void> {
    await this.#turn(async () => {
      const before = new Map(this.#rows.map((row) => [servicePortKey(row.id), row]));
      const after = new Map(rows.map((row) => [servicePortKey(row.id), row]));
      const keys = [...new Set([...before.keys(), ...after.keys()])];
      const changes = keys.flatMap((key) => {
        const [was, is] = [before.get(key), after.get(key)];
        const { id } = (is ?? was) as Forwarding;
        if (isApplied(was ?? 'absent', is)) return [];
        return [{ key, id, before: was ?? ('absent' as const), after: is }];
      });
      await this.plane.apply(changes);
      this.#rows = rows;
    });
  }

  async inspect(depth: InspectionDepth = 'everything'): Promise<Inspection> {
    return await this.#turn(async () => {
      const rows = this.#rows;
      const inspection = await this.plane.inspect({ facts: this.#facts, rows }, depth);
      const wrong = rows.filter(({ id }) => !inspection.right.has(servicePortKey(id)));
      await this.plane.apply(
        wrong.map((row) => ({
          key: servicePortKey(row.id),
          id: row.id,
          before: 'unknown',
          after: row,
        })),
      );
      return inspection;
    });
  }

  /** As after kill -9: the kernel keeps everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watch;
    await this.#busy;
  }

  async #turn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#busy.then(work);
    this.#busy = mine.catch(() => undefined);
    return await mine;
  }

  #take(drift: Drift): void {
    this.drifts.push(drift);
    void this.inspect('reported').catch((error: unknown) => this.warnings.push(String(error)));
  }
}

export function assertAllServed(answers: readonly Answer[]): void {
  const failed = answers.filter(({ by }) => !/^e\d$/.test(by));
  assert.deepEqual(failed, [], `${failed.length} of ${answers.length} failed`);
  assert.ok(answers.length > 0);
}
