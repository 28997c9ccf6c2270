import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatCidr, parseCidr } from '../addresses/cidr.ts';
import type { NodeFacts } from '../dataplanes/contract.ts';
import { decideRoutes, type RouteFact, type RouteKeeper, ServiceRoutes } from './service-routes.ts';

const RANGES = ['10.96.0.0/12', 'fd00:96::/108'];

function route(to: string, more: Partial<RouteFact> = {}): RouteFact {
  const cidr = parseCidr(to);
  assert.ok(cidr);
  return { to: cidr, isUsable: true, isOurs: false, text: to, ...more };
}

/** The ranges that need a route of ours. */
function uncovered(routes: readonly RouteFact[]): string[] {
  const decisions = decideRoutes(RANGES, routes);
  return decisions.filter((each) => each.coveredBy === undefined).map((d) => formatCidr(d.range));
}

describe('a decision about routes', () => {
  it('wants one for each range without a route', () => {
    assert.deepEqual(uncovered([]), RANGES);
    assert.deepEqual(uncovered([route('192.0.2.0/24'), route('fd00:30::/64')]), RANGES);
  });

  it('takes a default route of the same family for a cover', () => {
    assert.deepEqual(uncovered([route('0.0.0.0/0')]), ['fd00:96::/108']);
    assert.deepEqual(uncovered([route('::/0')]), ['10.96.0.0/12']);
    assert.deepEqual(uncovered([route('0.0.0.0/1'), route('128.0.0.0/1')]), ['fd00:96::/108']);
  });

  it('takes a route to exactly the range for a cover', () => {
    assert.deepEqual(uncovered([route('10.96.0.0/12'), route('fd00:96::/108')]), []);
  });

  it('does not take a route to a part of the range for a cover', () => {
    assert.deepEqual(uncovered([route('10.96.0.0/16'), route('10.100.0.0/16')]), RANGES);
  });

  it('ignores routes that lead nowhere, and our own', () => {
    const nowhere = route('0.0.0.0/0', { isUsable: false });
    const own = route('10.96.0.0/12', { isOurs: true });
    assert.deepEqual(uncovered([nowhere, own]), RANGES);
  });

  it('names the most specific of several covers', () => {
    const routes = [route('0.0.0.0/0'), route('10.0.0.0/8'), route('8.0.0.0/6')];
    assert.equal(decideRoutes(['10.96.0.0/12'], routes)[0]?.coveredBy, '10.0.0.0/8');
  });
});

describe('the keeper of Service routes', () => {
  type Hooks = Parameters<RouteKeeper['run']>[0];

  function stage() {
    const lines: string[] = [];
    const log = {
      info: (fields: { range: string }) => void lines.push(`info ${fields.range}`),
      warn: (text: string) => void lines.push(`warn ${text}`),
    } as unknown as ConstructorParameters<typeof ServiceRoutes>[0]['log'];
    let rechecks = 0;
    let hooks: Hooks | undefined;
    const keeper: RouteKeeper = {
      run: async (given) => {
        hooks = given;
      },
      recheck: () => void rechecks++,
    };
    const routes = new ServiceRoutes({ keeper, log });
    let ranges: readonly string[] = [];
    const observer = routes.observer(() => ({ serviceRanges: ranges }));
    const sync = (serviceRanges: readonly string[]): void => {
      ranges = serviceRanges;
      observer.onFirstSync?.();
    };
    const configure = (serviceRanges: readonly string[]): void =>
      observer.onConfigured?.({ serviceRanges } as NodeFacts);
    return { routes, lines, sync, configure, rechecks: () => rechecks, hooks: () => hooks };
  }

  it('decides nothing before the ranges are known', async () => {
    const { routes, sync, configure, rechecks, hooks } = stage();
    await routes.run(new AbortController().signal);
    configure([]);
    assert.equal(hooks()?.decide([]), undefined);
    sync(RANGES);
    assert.equal(rechecks(), 1);
    assert.equal(hooks()?.decide([])?.length, 2);
    configure(RANGES);
    assert.equal(rechecks(), 1);
    configure([]);
    assert.deepEqual(hooks()?.decide([]), []);
  });

  it('logs changes, and each problem once', async () => {
    const { routes, sync, lines, hooks } = stage();
    await routes.run(new AbortController().signal);
    sync(['10.96.0.0/12']);
    const problem = 'only loopback';
    const kept = [{ range: '10.96.0.0/12', state: 'added', problem }] as const;
    hooks()?.onKept(kept, { added: ['10.96.0.0/12'], removed: [] });
    hooks()?.onKept(kept, { added: [], removed: [] });
    assert.deepEqual(lines, ['info 10.96.0.0/12', 'warn 10.96.0.0/12: only loopback']);
    assert.deepEqual(routes.report(), kept);
    hooks()?.onFailed(new Error('EPERM'));
    assert.equal(routes.report()[0]?.state, 'failed');
    assert.match(lines.at(-1) ?? '', /EPERM/);
  });
});
