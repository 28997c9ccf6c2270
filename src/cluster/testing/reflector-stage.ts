import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { InstantClock } from '../../time/testing/instant-clock.ts';
import { until } from '../../time/testing/until.ts';
import { Connection } from '../api-connection.ts';
import type { ClusterError } from '../cluster-error.ts';
import { Interner } from '../narrow/interner.ts';
import { Reflector, type ReflectorTiming } from '../reflector.ts';
import { type Resource, SERVICES } from '../resources.ts';
import type { SourceEvent } from '../source.ts';
import { type Exchange, FakeApiServer } from './fake-api-server.ts';
import { openAccess } from './open-access.ts';

/** Uniform numbers would make waits random; this makes each the longest that it can be. */
const LONGEST = 0.999_999;

export type Step = (exchange: Exchange) => void;

interface Stage {
  readonly server: FakeApiServer;
  readonly reflector: Reflector<'service' | 'serviceCidr' | 'namespace'>;
  readonly clock: InstantClock;
  readonly problems: ClusterError[];
  readonly missing: ClusterError[];
  readonly events: readonly SourceEvent[];
  /** The events so far, a word each. */
  told(): string[];
  /** Waits until the events are these. */
  tells(...expected: string[]): Promise<void>;
}

interface Setting {
  readonly resource: Resource<'service' | 'serviceCidr' | 'namespace'>;
  readonly timing: ReflectorTiming;
}

const SETTING: Setting = {
  resource: SERVICES,
  timing: { watchSeconds: 300, listSilenceMs: 100, watchSilenceMs: 100 },
};

/** A reflector and a server that answers the first request by the first step, and so on. */
export async function stage(
  t: TestContext,
  steps: readonly Step[],
  options: Partial<Setting> = {},
): Promise<Stage> {
  const { resource, timing } = { ...SETTING, ...options };
  const server = await FakeApiServer.start((exchange, index) => {
    const step = steps[index];
    if (step === undefined) exchange.watch();
    else step(exchange);
  });
  const clock = new InstantClock();
  const events: SourceEvent[] = [];
  const problems: ClusterError[] = [];
  const missing: ClusterError[] = [];
  const connection = new Connection({ access: openAccess(server.url) });
  const reflector = new Reflector({
    resource,
    getter: connection,
    interner: new Interner(),
    clock,
    random: () => LONGEST,
    timing,
    onEvent: (event) => events.push(event),
    onProblem: (problem) => problems.push(problem),
    onMissing: (problem) => missing.push(problem),
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    connection.close();
    await server[Symbol.asyncDispose]();
  });
  const told = (): string[] =>
    events.map((event) => (event.type === 'synced' ? 'synced' : `${event.type} ${event.key}`));
  return {
    server,
    reflector,
    clock,
    problems,
    missing,
    events,
    told,
    async tells(...expected) {
      await until(
        `${expected.join(', ')}; so far ${told().join(', ')}`,
        () => told().length >= expected.length,
      ).catch(() => undefined);
      assert.deepEqual(told(), expected);
    },
  };
}
