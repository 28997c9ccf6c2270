import {
  type EndpointList,
  type Forwarding,
  type Frontend,
  type Outcome,
  servicePortKey,
  servicePortName,
} from '../../forwarding/model.ts';
import { type InTurns, toEnd } from '../../forwarding/turns.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { PlaneError } from '../contract.ts';
import { addressBytes, frontendKey, hostNumber, nodePortKey } from '../shared/nft/element-keys.ts';
import { type Class, classId, TREATMENT_NUMBER, type Treatment } from './classes.ts';
import type { EndpointListParts } from './endpoint-list.ts';
import type { AllowedRange } from './firewall.ts';
import { groupNumber, type ListOf, listNumber } from './groups.ts';
import { frontendMap, type Where } from './nftables-sets.ts';
import type { RowElement, SharedElement } from './row-elements.ts';
import type { RowNumbers } from './row-numbers.ts';
import { sizeFor } from './sizes.ts';
import { AT_ONCE } from './slot-order.ts';

/** Source ranges that some frontends of a row are limited to. */
export interface SourceList {
  readonly name: string;
  readonly number: number;
  readonly ranges: readonly AllowedRange[];
}

/** Everything that the kernel must have for a row. */
export interface RowParts {
  /** Without those of its lists, which may be very many. */
  readonly elements: readonly RowElement[];
  readonly lists: readonly EndpointListParts[];
  readonly shared: readonly SharedElement[];
  readonly sources?: SourceList;
  readonly classes: readonly Class[];
}

const NO_PARTS: RowParts = { elements: [], lists: [], shared: [], classes: [] };

export function partsOf(row: Forwarding | undefined, numbers: RowNumbers): RowParts {
  return toEnd(partsInTurns(row, numbers));
}

/** The same, with pauses between endpoints. */
export function* partsInTurns(row: Forwarding | undefined, numbers: RowNumbers): InTurns<RowParts> {
  if (!row) return NO_PARTS;
  const parts = new Parts(row, numbers);
  for (const frontend of row.frontends) {
    if (frontend.notServed === undefined) parts.add(frontend);
  }
  return yield* parts.finish();
}

/**
 * The part of a row that depends on its endpoints. In a row with thousands of addresses that is
 * little, and all there is to compare when the addresses are unchanged. `among`: with the hairpins of
 * these endpoint addresses only.
 */
export function endpointPartsOf(
  row: Forwarding,
  numbers: RowNumbers,
  among?: ReadonlySet<string>,
): RowParts {
  const parts = new Parts(row, numbers);
  for (const frontend of row.frontends) {
    if (frontend.notServed === undefined) parts.addGroup(frontend);
  }
  return toEnd(parts.finish(among));
}

/** The outcomes for the three source classes. */
interface Plan {
  readonly treatment: Exclude<Treatment, 'pick' | 'choose' | 'short'>;
  /** Undefined: only the cluster list is used, by the source classes that lead there. */
  readonly list: EndpointList | undefined;
}

class Parts {
  readonly #row: Forwarding;
  readonly #numbers: RowNumbers;
  readonly #comment: string;
  readonly #number: number;
  readonly #elements: RowElement[] = [];
  readonly #shared: SharedElement[] = [];
  readonly #classes: Class[] = [];
  readonly #lists: EndpointListParts[] = [];
  /** By outcomes, which the frontends of a row share: many of them have few groups. */
  readonly #groups: Readonly<Record<Where, Map<Frontend['outcomes'], number | undefined>>> = {
    service: new Map(),
    nodeport: new Map(),
  };
  /** Groups that are in `groups` already. */
  readonly #said: number[] = [];
  #sources: SourceList | undefined;

  constructor(row: Forwarding, numbers: RowNumbers) {
    this.#row = row;
    this.#numbers = numbers;
    this.#comment = servicePortName(row.id);
    this.#number = numbers.rows.of(servicePortKey(row.id));
  }

  *finish(among?: ReadonlySet<string>): InTurns<RowParts> {
    const isForwarding = this.#classes.length > 0;
    for (const address of isForwarding ? localAddresses(this.#row, among) : []) {
      const bytes = addressBytes(address);
      this.#shared.push({ set: 'hairpin', key: bytes + bytes });
      if (this.#shared.length % AT_ONCE === 0) yield AT_ONCE;
    }
    return {
      elements: this.#elements,
      lists: this.#lists,
      shared: this.#shared,
      classes: this.#classes,
      ...(this.#sources === undefined ? {} : { sources: this.#sources }),
    };
  }

  add(frontend: Frontend): void {
    const { protocol } = this.#row.id;
    const where: Where = frontend.kind === 'node-port' ? 'nodeport' : 'service';
    const key =
      where === 'nodeport'
        ? nodePortKey(protocol, frontend.port)
        : frontendKey(frontend.address, protocol, frontend.port);
    const group = this.addGroup(frontend);
    if (group !== undefined) {
      this.#put({ set: frontendMap(where), key, value: hostNumber(group), comment: this.#comment });
    }
    this.#rejectOrDrop(frontend, where, key);
    if (frontend.kind === 'cluster-ip') {
      this.#shared.push({ set: 'service-ips', key: addressBytes(frontend.address) });
    }
    if (frontend.allowedSources) this.#limit(frontend.allowedSources, key);
  }

  /** The group that a frontend leads to, with all of its elements; undefined: none. */
  addGroup({ kind, outcomes }: Frontend): number | undefined {
    const where: Where = kind === 'node-port' ? 'nodeport' : 'service';
    const known = this.#groups[where].get(outcomes);
    if (known !== undefined || this.#groups[where].has(outcomes)) return known;
    const plan = planOf(outcomes, this.#row);
    const group = plan && this.#group(plan, where);
    this.#groups[where].set(outcomes, group);
    return group;
  }

  #group({ treatment, list }: Plan, where: Where): number {
    const number = listNumber(this.#number, list ?? 'local');
    const group = groupNumber(TREATMENT_NUMBER[treatment], number);
    this.#say({ where, listOf: 'own', treatment, list, group });
    if (treatment === 'local' || treatment === 'local-host') {
      const short = groupNumber(TREATMENT_NUMBER.short, listNumber(this.#number, 'cluster'));
      this.#say({ where, listOf: 'cluster', treatment: 'short', list: 'cluster', group: short });
    }
    return group;
  }

  /** The treatment of a group: its class, and the list that it leads to. */
  #say(treated: {
    where: Where;
    listOf: ListOf;
    treatment: Treatment;
    list: EndpointList | undefined;
    group: number;
  }): void {
    const { where, listOf, treatment, list, group } = treated;
    const count = list === undefined ? 0 : this.#list(list).endpoints.length;
    const stickySeconds = count === 0 ? 0 : timeOutStep(this.#row.affinitySeconds);
    const size = stickySeconds > 0 ? 0 : sizeFor(count);
    this.#classify(group, { where, listOf, treatment, size, stickySeconds });
    if (stickySeconds === 0 || list === undefined) return;
    for (const draw of ['pick', 'choose'] as const) {
      const entry = groupNumber(TREATMENT_NUMBER[draw], listNumber(this.#number, list));
      const size = sizeFor(count);
      this.#classify(entry, { where, listOf, treatment: draw, size, stickySeconds: 0 });
    }
  }

  /** Frontends and node ports share the entry of a group, and have chains of their own. */
  #classify(group: number, rowClass: Class): void {
    this.#classes.push(rowClass);
    if (this.#said.includes(group)) return;
    this.#said.push(group);
    this.#put({ set: 'groups', key: hostNumber(group), value: hostNumber(classId(rowClass)) });
  }

  #list(list: EndpointList): EndpointListParts {
    const number = listNumber(this.#number, list);
    const known = this.#lists.find((each) => each.number === number);
    if (known) return known;
    const { clusterEndpoints, localEndpoints, affinitySeconds } = this.#row;
    const endpoints = list === 'cluster' ? clusterEndpoints : localEndpoints;
    const parts = { number, endpoints, isSticky: affinitySeconds > 0 };
    this.#lists.push(parts);
    return parts;
  }

  #rejectOrDrop(frontend: Frontend, where: Where, key: Binary): void {
    const { pod, host, outside } = frontend.outcomes;
    const outcome = [outside, pod, host].find(({ action }) => action !== 'forward');
    if (!outcome) return;
    const verdict = outcome.action === 'reject' ? 'reject' : 'drop';
    this.#put({ set: `${verdict}-${where}s`, key, comment: this.#comment });
  }

  /** All frontends of a row have the same ranges, if they have any. */
  #limit(allowedSources: readonly string[], key: Binary): void {
    this.#sources ??= this.#sourceList(allowedSources);
    const value = hostNumber(this.#sources.number);
    this.#put({ set: 'source-lists', key, value, comment: this.#comment });
    this.#put({ set: 'limited-services', key, comment: this.#comment });
  }

  #sourceList(allowedSources: readonly string[]): SourceList {
    const { name, ranges } = this.#numbers.sourceLists.of(allowedSources, this.#row.id.family);
    return { name, number: this.#numbers.sources.of(name), ranges };
  }

  #put(element: RowElement): void {
    this.#elements.push(element);
  }
}

/** Most rows have no endpoint on this node, and need no list. */
function localAddresses(
  { clusterEndpoints, localEndpoints }: Forwarding,
  among?: ReadonlySet<string>,
): Iterable<string> {
  let found: Set<string> | undefined;
  for (const endpoints of [clusterEndpoints, localEndpoints]) {
    for (const { local, address } of endpoints) {
      if (!local || among?.has(address) === false) continue;
      found ??= new Set();
      found.add(address);
    }
  }
  return found ?? [];
}

/** Undefined: no source class is forwarded. */
function planOf(outcomes: Frontend['outcomes'], row: Forwarding): Plan | undefined {
  const { pod, host, outside } = outcomes;
  const pattern = letter(pod) + letter(host) + letter(outside);
  const treatment = TREATMENTS[pattern];
  if (treatment === undefined) throw unknownPattern(row, pattern);
  if (treatment === 'none') return undefined;
  return { treatment, list: outside.action === 'forward' ? outside.list : undefined };
}

/** Lists are c (cluster) and l (local), capital when masqueraded; `-`: not forwarded. */
const TREATMENTS: Readonly<Record<string, Plan['treatment'] | 'none'>> = {
  cCC: 'cluster',
  lLL: 'cluster',
  CCC: 'masquerade',
  LLL: 'masquerade',
  ccc: 'plain',
  lll: 'plain',
  cCl: 'local',
  'cC-': 'local',
  lCl: 'local-host',
  '-C-': 'local-host',
  '---': 'none',
};

function letter(outcome: Outcome): string {
  if (outcome.action !== 'forward') return '-';
  const list = outcome.list === 'cluster' ? 'c' : 'l';
  return outcome.masquerade ? list.toUpperCase() : list;
}

function unknownPattern(row: Forwarding, pattern: string): PlaneError {
  return new PlaneError(`no nftables chain for the outcomes ${pattern}`, {
    code: 'NFT_OUTCOMES_UNKNOWN',
    next: 'report it as a bug of Fairlead, with the Service and its EndpointSlices',
    culprit: servicePortKey(row.id),
  });
}

/**
 * Steps that affinity timeouts are rounded up to. A timeout is part of a rule: a chain for every
 * number of seconds that a Service may request would be 86,400 of them. Each step applies up to its
 * limit; common values (10 s, 5 min, 3 h) are exact, and no timeout is lengthened by more than a
 * sixth.
 */
const STEPS = [
  { limitSeconds: 60, stepSeconds: 1 },
  { limitSeconds: 600, stepSeconds: 10 },
  { limitSeconds: 3600, stepSeconds: 60 },
  { limitSeconds: 10_800, stepSeconds: 300 },
  { limitSeconds: 86_400, stepSeconds: 900 },
] as const;

/** 0 stays 0: no affinity. */
export function timeOutStep(seconds: number): number {
  const step = STEPS.find(({ limitSeconds }) => seconds <= limitSeconds);
  // The API allows no more than a day.
  if (step === undefined) return 86_400;
  return Math.ceil(seconds / step.stepSeconds) * step.stepSeconds;
}
