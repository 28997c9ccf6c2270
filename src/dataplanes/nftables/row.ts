import {
  type Endpoint,
  type Forwarding,
  type Frontend,
  type Outcome,
  servicePortKey,
  servicePortName,
} from '../../forwarding/model.ts';
import type { Binary } from '../../linux/nftables/userdata.ts';
import { PlaneError } from '../contract.ts';
import { type Class, classId, type Treatment } from './classes.ts';
import type { RowElement, SharedElement } from './elements.ts';
import { allowedRanges, listName } from './firewall.ts';
import {
  addressBytes,
  endpointValue,
  frontendKey,
  hostNumber,
  nodePortKey,
  SECOND_LIST_OFFSET,
} from './keys.ts';
import { memberIds, type Numbers } from './numbers.ts';
import type { RowSet } from './sets.ts';
import type { Where } from './statements.ts';

/** Everything that the kernel must have for a row. */
export interface RowParts {
  readonly elements: readonly RowElement[];
  readonly shared: readonly SharedElement[];
  readonly classes: readonly Class[];
}

const NO_PARTS: RowParts = { elements: [], shared: [], classes: [] };

export function partsOf(row: Forwarding | undefined, numbers: Numbers): RowParts {
  if (!row) return NO_PARTS;
  const parts = new Parts(row, numbers);
  for (const frontend of row.frontends) {
    if (frontend.lostTo === undefined) parts.add(frontend);
  }
  return parts.finish();
}

/** What forwarding comes down to for the three kinds of clients. */
interface Plan {
  readonly treatment: Treatment;
  readonly first: readonly Endpoint[];
  readonly second?: readonly Endpoint[];
}

class Parts {
  readonly #row: Forwarding;
  readonly #numbers: Numbers;
  readonly #comment: string;
  readonly #elements: RowElement[] = [];
  readonly #shared: SharedElement[] = [];
  readonly #classes: Class[] = [];
  /** Made when there is a first: most rows have no affinity. */
  #groups: Map<readonly Endpoint[], number> | undefined;

  constructor(row: Forwarding, numbers: Numbers) {
    this.#row = row;
    this.#numbers = numbers;
    this.#comment = servicePortName(row.id);
  }

  finish(): RowParts {
    const isForwarding = this.#classes.length > 0;
    for (const address of isForwarding ? localAddresses(this.#row) : []) {
      this.#shared.push({ set: 'hairpin', key: address + address });
    }
    return { elements: this.#elements, shared: this.#shared, classes: this.#classes };
  }

  add(frontend: Frontend): void {
    const { protocol } = this.#row.id;
    const where: Where = frontend.kind === 'node-port' ? 'nodeport' : 'service';
    const key =
      where === 'nodeport'
        ? nodePortKey(protocol, frontend.port)
        : frontendKey(frontend.address, protocol, frontend.port);
    const plan = planOf(frontend, this.#row);
    if (plan) this.#forward(plan, where, key);
    this.#refuse(frontend, where, key);
    if (frontend.kind === 'cluster-ip') {
      this.#shared.push({ set: 'cluster-ips', key: addressBytes(frontend.address) });
    }
    if (frontend.allowedSources) this.#limit(frontend.allowedSources, key);
  }

  #forward(plan: Plan, where: Where, key: Binary): void {
    const [main, short] =
      where === 'service'
        ? (['services', 'short-circuit'] as const)
        : (['nodeports', 'short-circuit-nodeports'] as const);
    this.#classify(main, key, this.#classOf(where, plan.treatment, plan.first));
    this.#list({ where, key, endpoints: plan.first, isSecond: false });
    if (!plan.second) return;
    this.#classify(short, key, this.#classOf(where, 'short', plan.second));
    this.#list({ where, key, endpoints: plan.second, isSecond: true });
  }

  #classOf(where: Where, treatment: Treatment, endpoints: readonly Endpoint[]): Class {
    const stickySeconds = endpoints.length === 0 ? 0 : this.#row.affinitySeconds;
    return { where, treatment, count: endpoints.length, stickySeconds };
  }

  #classify(set: RowSet, key: Binary, of: Class): void {
    this.#classes.push(of);
    this.#put({ set, key, value: hostNumber(classId(of)), comment: this.#comment });
  }

  #list(of: {
    where: Where;
    key: Binary;
    endpoints: readonly Endpoint[];
    isSecond: boolean;
  }): void {
    const { where, key, endpoints, isSecond } = of;
    if (this.#row.affinitySeconds > 0) {
      if (endpoints.length > 0) this.#group(where, { key, endpoints, isSecond });
      return;
    }
    const set = where === 'service' ? 'endpoints' : 'nodeport-endpoints';
    const offset = isSecond ? SECOND_LIST_OFFSET : 0;
    endpoints.forEach((endpoint, slot) => {
      this.#put({ set, key: key + hostNumber(offset + slot), value: endpointValue(endpoint) });
    });
  }

  /** A list of endpoints with affinity is one group, whichever frontends lead to it. */
  #group(
    where: Where,
    of: { key: Binary; endpoints: readonly Endpoint[]; isSecond: boolean },
  ): void {
    const prefix = of.isSecond ? 'short-affinity' : 'affinity';
    const set: RowSet = where === 'service' ? `${prefix}-groups` : `${prefix}-nodeport-groups`;
    this.#groups ??= new Map();
    const known = this.#groups.get(of.endpoints);
    const list = of.endpoints === this.#row.clusterEndpoints ? 'cluster' : 'local';
    const id = known ?? this.#numbers.of(`${servicePortKey(this.#row.id)} ${list}`);
    this.#put({ set, key: of.key, value: hostNumber(id) });
    if (known !== undefined) return;
    this.#groups.set(of.endpoints, id);
    const group = hostNumber(id);
    const ids = memberIds(of.endpoints);
    of.endpoints.forEach((endpoint, slot) => {
      const member = hostNumber(ids[slot] ?? 0);
      this.#put({ set: 'affinity-slots', key: group + hostNumber(slot), value: member });
      this.#put({
        set: 'affinity-endpoints',
        key: group + member,
        value: endpointValue(endpoint),
      });
    });
  }

  #refuse(frontend: Frontend, where: Where, key: Binary): void {
    const { pod, host, outside } = frontend.outcomes;
    const refused = [outside, pod, host].find(({ action }) => action !== 'forward');
    if (!refused) return;
    const verdict = refused.action === 'reject' ? 'reject' : 'drop';
    this.#put({ set: `${verdict}-${where}s`, key, comment: this.#comment });
  }

  #limit(allowedSources: readonly string[], key: Binary): void {
    const ranges = allowedRanges(allowedSources, this.#row.id.family);
    const id = this.#numbers.of(listName(ranges));
    this.#put({ set: 'firewall-lists', key, value: hostNumber(id), comment: this.#comment });
    for (const range of ranges) this.#shared.push(range.element(id));
  }

  #put(element: RowElement): void {
    this.#elements.push(element);
  }
}

/** Of most rows no endpoint is on this node, and they need no list. */
function localAddresses({ clusterEndpoints, localEndpoints }: Forwarding): Iterable<Binary> {
  let found: Set<Binary> | undefined;
  for (const endpoints of [clusterEndpoints, localEndpoints]) {
    for (const { local, address } of endpoints) {
      if (!local) continue;
      found ??= new Set();
      found.add(addressBytes(address));
    }
  }
  return found ?? [];
}

/** Undefined: nobody is forwarded. */
function planOf(frontend: Frontend, row: Forwarding): Plan | undefined {
  const { pod, host, outside } = frontend.outcomes;
  const endpoints = (outcome: Outcome) => {
    if (outcome.action !== 'forward') return [];
    return outcome.list === 'cluster' ? row.clusterEndpoints : row.localEndpoints;
  };
  const pattern = letter(pod) + letter(host) + letter(outside);
  const treatment = TREATMENTS[pattern];
  if (treatment === undefined) throw unknownPattern(row, pattern);
  if (treatment === 'none') return undefined;
  if (!treatment.startsWith('local')) return { treatment, first: endpoints(outside) };
  return { treatment, first: endpoints(outside), second: endpoints(host) };
}

/** Lists are c (cluster) and l (local), capital when masqueraded; `-`: not forwarded. */
const TREATMENTS: Readonly<Record<string, Treatment | 'none'>> = {
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
  return new PlaneError(`the outcomes ${pattern} cannot be said in nftables`, {
    code: 'NFT_OUTCOMES_UNKNOWN',
    next: 'this is a fault of the program: report it with the Service and its slices',
    culprit: servicePortKey(row.id),
  });
}
