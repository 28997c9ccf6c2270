import { API_PORT } from '../../../lab/control-plane/credentials.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import { run } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { CHANGES, type Fault, felt, lasting } from './fault.ts';
import type { LineFate, Rejection } from './middleman.ts';

const STORM_SECONDS = 10;
const CUT_SECONDS = 60;
const SILENT_SECONDS = 30;
const DEADLINE_MS = 60_000;
/** A Service and its slice, each created, deleted and changed. */
const LINES_PER_CHANGE = 6;
const LINES_BEFORE_BREAK = 50;

const DROP = `table inet faults {
  chain in { type filter hook input priority 0; tcp sport ${API_PORT} drop; }
  chain out { type filter hook output priority 0; tcp dport ${API_PORT} drop; }
}`;

/** What happens on the way between the source and the API server. */
export const WAY_FAULTS: readonly Fault[] = [
  {
    name: 'reset in the middle of a line',
    done: 'half of the first changed object sent, then a TCP reset; changes',
    way: 'middleman',
    feltAs: 'CLUSTER_CONNECTION_LOST',
    async happen(scene, _watcher, middleman) {
      const line = firstOf('cut');
      middleman.misbehaviour = { line: line.fate };
      await scene.changes.throughApi(scene.api, CHANGES);
      await until(() => line.count() === 1, { what: 'the cut', deadlineMs: DEADLINE_MS });
    },
  },
  badLines({
    name: 'line that is not JSON',
    done: 'changes; before the line of each, a line as an HTTP proxy might insert it',
    fate: 'precede',
  }),
  badLines({
    name: 'half a line instead of a change',
    done: 'changes; of the line of each only the first half',
    fate: 'halve',
  }),
  storm('429 storm', { status: 429, retryAfterSeconds: 1 }),
  storm('500 storm', { status: 500 }),
  {
    name: 'objects deleted before a relist',
    done: 'every watch rejected with 410; changes; the relist interrupted in its middle; changes',
    way: 'middleman',
    feltAs: 'CLUSTER_GONE 410',
    async happen(scene, watcher, middleman) {
      middleman.misbehaviour = { reject: goneWhenResumed };
      middleman.cut();
      await scene.changes.throughApi(scene.api, CHANGES);
      await felt(watcher, 'CLUSTER_GONE 410');
      const line = firstOf('cut', 1, LINES_BEFORE_BREAK);
      middleman.misbehaviour = { reject: goneWhenResumed, line: line.fate };
      await until(() => line.count() === 1, { what: 'the list', deadlineMs: DEADLINE_MS });
      await scene.changes.throughApi(scene.api, CHANGES);
    },
  },
  {
    name: 'watch cut every second',
    done: `all connections ended every second for ${CUT_SECONDS} s; changes in between`,
    way: 'middleman',
    feltAs: 'CLUSTER_CONNECTION_LOST',
    async happen(scene, _watcher, middleman) {
      for (let second = 0; second < CUT_SECONDS; second++) {
        middleman.cut();
        await Promise.all([scene.changes.throughApi(scene.api, 1), lasting(1)]);
      }
    },
  },
  {
    name: 'half-open connection',
    done: `every packet silently dropped for ${SILENT_SECONDS} s; changes`,
    way: 'straight',
    feltAs: 'CLUSTER_CONNECTION_LOST',
    async happen(scene) {
      const path = scene.lab.namespacePath('node1');
      await run(enterNamespace(path, ['nft', '-f', '-']), { input: DROP });
      try {
        await scene.changes.throughApi(scene.api, CHANGES);
        await lasting(SILENT_SECONDS);
      } finally {
        await run(enterNamespace(path, ['nft', 'delete', 'table', 'inet', 'faults']));
      }
    },
  },
];

function badLines(of: { name: string; done: string; fate: LineFate }): Fault {
  return {
    name: of.name,
    done: of.done,
    way: 'middleman',
    feltAs: 'CLUSTER_MALFORMED',
    async happen(scene, _watcher, middleman) {
      const line = firstOf(of.fate, CHANGES * LINES_PER_CHANGE);
      middleman.misbehaviour = { line: line.fate };
      await scene.changes.throughApi(scene.api, CHANGES);
      const areAll = (): boolean => line.count() === CHANGES * LINES_PER_CHANGE;
      await until(areAll, { what: 'the lines', deadlineMs: DEADLINE_MS });
    },
  };
}

function storm(name: string, rejection: Rejection): Fault {
  const { status, retryAfterSeconds } = rejection;
  const asked = retryAfterSeconds === undefined ? '' : ` with Retry-After: ${retryAfterSeconds}`;
  return {
    name,
    done: `connections ended; every answer ${status}${asked} for ${STORM_SECONDS} s; changes`,
    way: 'middleman',
    feltAs: `CLUSTER_ANSWER ${status}`,
    async happen(scene, _watcher, middleman) {
      middleman.misbehaviour = { reject: () => rejection };
      middleman.cut();
      await scene.changes.throughApi(scene.api, CHANGES);
      await lasting(STORM_SECONDS);
    },
  };
}

function goneWhenResumed(path: string): Rejection | undefined {
  return /[?&]resourceVersion=\d/.test(path) ? { status: 410 } : undefined;
}

/** Damages a number of lines with an object of the load, after a number that pass. */
function firstOf(
  fate: LineFate,
  times = 1,
  after = 0,
): { fate: (line: string) => LineFate; count: () => number } {
  let seen = 0;
  const isStruck = (at: number): boolean => at > after && at <= after + times;
  return {
    count: () => Math.max(0, Math.min(seen - after, times)),
    fate: (line) => {
      if (!/"kind":"(Service|EndpointSlice)"/.test(line)) return 'pass';
      return isStruck(++seen) ? fate : 'pass';
    },
  };
}
