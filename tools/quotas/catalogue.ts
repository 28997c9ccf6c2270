import type { PlantedQuota } from './quota.ts';

const FORWARDER = 'src/wings/userspace/plane/forwarder';
const SERVERS = 'src/agent/servers';

/** Bounds of which no quota is taken away, and why. */
export const NOT_TAKEN: Readonly<Record<string, string>> = {
  'affinity clients': 'the kernel holds the size of the set',
  'conntrack table': 'the kernel holds it',
  'unread bytes, userspace': 'the buffers are those of the kernel',
  'the same, full': 'the quota is that of health connections',
};

export const QUOTAS: readonly PlantedQuota[] = [
  {
    bound: 'write queue',
    file: 'src/agent/reconciler.ts',
    replace: 'rows: rowsPerStep ?? ROWS_PER_STEP',
    by: 'rows: rowsPerStep ?? Number.POSITIVE_INFINITY',
  },
  {
    bound: 'write queue',
    file: 'src/agent/fair-queue.ts',
    replace: `lane.credit = Math.min(lane.credit, 0) + this.#objectsPerTurn;
      const before = step.taken.length;
      takeTurn(lane, cursor, step);
      // A row that does not fit must be the first of the next step, or it might never fit.
      if (!step.isFull || step.taken.length > before) {`,
    by: `lane.credit = Number.POSITIVE_INFINITY;
      takeTurn(lane, cursor, step);
      if (false) {`,
  },
  {
    bound: 'computing rows',
    file: 'src/forwarding/stale-queue.ts',
    replace: 'a.finish === b.finish ? a.turn < b.turn : a.finish < b.finish',
    by: 'a.turn < b.turn',
  },
  {
    bound: 'an nftables transaction',
    file: 'src/dataplanes/nftables/plan-progress.ts',
    replace: 'let room = mostElements;',
    by: 'let room = Number.MAX_SAFE_INTEGER;',
  },
  {
    bound: 'rejected rows',
    file: 'src/agent/split.ts',
    replace: 'failuresInARow = rejection === undefined ? 0 : failuresInARow + 1;',
    by: 'failuresInARow += rejection === undefined ? 0 : 1;',
  },
  {
    bound: 'affinity clients of a list, nftables',
    file: 'src/dataplanes/nftables/draw-clauses.ts',
    replace: 'MOST_CLIENTS_OF_A_LIST / 2',
    by: 'MOST_CLIENTS_OF_A_LIST * 8',
  },
  {
    bound: 'sticky lists in use, nftables',
    file: 'src/dataplanes/nftables/nftables-sets.ts',
    replace: 'MOST_STICKY_LISTS = 65_536',
    by: 'MOST_STICKY_LISTS = 16_777_216',
  },
  {
    bound: 'affinity clients, eBPF',
    file: 'bpf/pick.h',
    replace: 'remembered_clients(who->service, added) >= (AFFINITY_ROOM - all) / AFFINITY_SHARE',
    by: 'all >= AFFINITY_ROOM',
  },
  {
    bound: 'affinity clients, userspace',
    file: `${FORWARDER}/affinity.ts`,
    replace: 'list.size >= this.#mostOfAList || ',
    by: '',
  },
  {
    bound: 'affinity clients, userspace',
    file: `${FORWARDER}/affinity.ts`,
    replace: ' || !this.#shares.hasRoom(namespace, 1)',
    by: '',
  },
  {
    bound: 'endpoint slots, eBPF',
    file: 'src/wings/ebpf/plane/maps/growth.ts',
    replace: 'tables.slots.maxEntries >= MOST_SLOTS',
    by: 'false',
  },
  {
    bound: 'endpoints of one row, ipvs',
    file: 'src/wings/ipvs/plane/wanted.ts',
    replace: 'if (destinations > MOST_DESTINATIONS_OF_A_ROW) return [];',
    by: '',
  },
  {
    bound: 'virtual servers, ipvs',
    file: 'src/wings/ipvs/plane/room.ts',
    replace: 'this.#shares.hasRoom(namespace, more)',
    by: 'true',
  },
  {
    bound: 'frontends and rows of the forwarder, userspace',
    file: `${FORWARDER}/row-store.ts`,
    replace: 'more > 0 && !this.#frontendShares.hasRoom(namespace, more)',
    by: 'false',
  },
  {
    bound: 'frontends and rows of the forwarder, userspace',
    file: `${FORWARDER}/row-store.ts`,
    replace: 'this.#rowShares.hasRoom(namespace, 1)',
    by: 'true',
  },
  {
    bound: 'forwarder slots, userspace',
    file: `${FORWARDER}/slot-table.ts`,
    replace: 'return this.#shares.hasRoom(namespace, count);',
    by: 'return true;',
    test: {
      path: `${FORWARDER}/forwarder-directory.test.ts`,
      words: 'are declined beyond the share of their namespace',
    },
  },
  {
    bound: 'forwarder connections, userspace',
    file: `${FORWARDER}/thread/acceptor.ts`,
    replace: 'const isFull = counts.connections >= this.#mostConnections;',
    by: 'const isFull = false;',
    test: {
      path: `${FORWARDER}/thread/limits.root.test.ts`,
      words: 'resets connections above its limit',
    },
  },
  {
    bound: 'one huge row, userspace',
    file: 'src/wings/userspace/plane/fill.ts',
    replace: 'ENDPOINTS_PER_MESSAGE = 20_000',
    by: 'ENDPOINTS_PER_MESSAGE = 20_000_000',
    test: {
      path: 'src/wings/userspace/plane/fill.test.ts',
      words: 'sends a large row in parts',
    },
  },
  {
    bound: 'hops of a connection that runs in circles, userspace',
    file: `${FORWARDER}/thread/acceptor.ts`,
    replace: 'MOST_HOPS + 1) - 1;',
    // Never taken away, it would go in circles until the descriptors end.
    by: 'MOST_HOPS + 1) - Number(Math.random() < 0.2);',
  },
  {
    bound: 'half-closed pairs, userspace',
    file: `${FORWARDER}/thread/thread.ts`,
    replace: 'if (pair.byteCount === pair.seenByteCount) this.#endings.reset(pair);',
    by: 'if (false) this.#endings.reset(pair);',
  },
  {
    bound: 'epoll watches',
    file: `${FORWARDER}/requests.ts`,
    replace: 'openConnections >= mostConnections * FULL_SHARE || ',
    by: '',
  },
  {
    bound: 'health connections',
    file: `${SERVERS}/connection-budget.ts`,
    replace:
      'else if (this.#count > this.#limits.total) this.#evictOldestOf(this.#largestShare());',
    by: 'else if (this.#count > this.#limits.total) this.#evict(connection);',
  },
  {
    bound: 'health-check ports of Services',
    file: `${SERVERS}/service-health.ts`,
    replace: 'const { onListenFailure, onProblem, budget, retryAfterMs } = this.#options;',
    by: `const { onListenFailure, onProblem, budget: one, retryAfterMs } = this.#options;
    const limits = { total: 1024, perSource: 256, unreadBytes: 8_388_608 };
    const budget = new (one.constructor as any)(limits);`,
  },
  {
    bound: 'answers not read',
    file: `${SERVERS}/connection-budget.ts`,
    replace: 'this.#unreadBytes > this.#limits.unreadBytes',
    by: 'false',
  },
  {
    bound: 'connections of the loopback relay',
    file: `${SERVERS}/relay-connection.ts`,
    replace: 'if (this.#count >= this.#most) return false;',
    by: '',
  },
  {
    bound: 'status socket',
    file: `${SERVERS}/status-socket.ts`,
    replace: 'total: 64, perSource: 64,',
    by: 'total: 6400, perSource: 6400,',
  },
  {
    bound: '`fairlead view`',
    file: 'src/wings/view/connection-places.ts',
    replace: 'evict(this.#admitted, this.#limits.admitted - 1);',
    by: '',
  },
  {
    bound: 'history',
    file: 'src/agent/history/ring.ts',
    replace: 'if (oldest !== undefined && oldest !== newest) return oldest;',
    by: '',
  },
  {
    bound: 'Events that wait',
    file: 'src/agent/kubernetes-events.ts',
    replace: ' && !this.#makeRoomFor(lane)',
    by: '',
  },
  {
    bound: 'rejected Services counted for Events',
    file: 'src/agent/trouble-events.ts',
    replace:
      'const namespace = namespaceOf(service);\n    const counts = this.#byNamespace.get(namespace) ??',
    by: "const namespace = '';\n    const counts = this.#byNamespace.get(namespace) ??",
  },
  {
    bound: 'addresses not served, told one by one',
    file: 'src/forwarding/not-served.ts',
    replace: "({ name }) => name.slice(0, name.indexOf('/'))",
    by: "() => ''",
  },
  {
    bound: 'metric series',
    file: 'src/agent/metrics/own-metrics.ts',
    replace: `onStepFailed({ scope }: StepFailure): void {
    this.#metrics.writeFailures.add(1, scope);`,
    by: `onStepFailed({ scope, key }: any): void {
    this.#metrics.writeFailures.add(1, scope + key);`,
  },
  {
    bound: 'counters for `fairlead top`',
    file: `${SERVERS}/traffic-pages.ts`,
    replace: 'endpointCount + size > MOST_ENDPOINTS',
    by: 'false',
  },
  {
    bound: 'cached endpoints of slices',
    file: 'src/forwarding/serving.ts',
    replace: 'constructor(mostKept = MOST_KEPT) {\n    this.#mostKept = mostKept;',
    by: 'constructor(mostKept = MOST_KEPT) {\n    this.#mostKept = mostKept * 1000;',
  },
];
