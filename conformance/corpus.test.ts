import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { NETWORK_VARIANTS } from '../lab/network/variants/registry.ts';
import { PROXY_VARIANTS } from '../lab/proxies/registry.ts';
import { allowancesMarkdown, latenessOfProxies, settlingOfScenarios } from './allowances.ts';
import { CORPUS } from './corpus.ts';
import { sabotagesFor } from './sabotage/catalogue.ts';
import { BLIND_TO_LATENESS } from './sabotage/lateness.ts';
import type { Sabotage } from './sabotage/sabotage.ts';

describe('the corpus', () => {
  it('has at least 70 scenarios, each with a name of its own', () => {
    const names = CORPUS.map((scenario) => scenario.name);
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
    assert.ok(names.length >= 70, `${names.length} scenarios`);
    for (const name of names) assert.match(name, /^[a-z0-9-]+\/[a-z0-9-]+$/);
  });

  it('asks something in every scenario', () => {
    const silent = CORPUS.filter(
      (scenario) =>
        !scenario.steps.some((step) => ('ask' in step && step.ask.length > 0) || 'held' in step),
    );
    assert.deepEqual(silent, []);
  });

  it('names only proxies that exist in its known differences, each with a reason', () => {
    const proxies = PROXY_VARIANTS.map((variant) => variant.name);
    const networks = NETWORK_VARIANTS.map((variant) => variant.name);
    const known = new Set([
      ...proxies,
      ...['', ...proxies].flatMap((proxy) => networks.map((network) => `${proxy}@${network}`)),
    ]);
    for (const { name, steps } of CORPUS) {
      const differences = steps.flatMap((step) => {
        if ('ask' in step) return step.ask.flatMap((q) => Object.entries(q.otherwise ?? {}));
        return 'held' in step ? Object.entries(step.otherwise ?? {}) : [];
      });
      for (const [proxy, { reason }] of differences) {
        assert.ok(
          known.has(proxy),
          `${name} knows a difference of '${proxy}', which is neither proxy nor network`,
        );
        assert.ok(reason.length > 20, `${name} gives no reason for ${proxy}`);
      }
    }
  });
});

const MOST_SETTLING_MS = 10_000;

describe('the time that answers are granted', () => {
  it('is none for Fairlead: its first answer must be right', () => {
    const granted = latenessOfProxies().map(({ where }) => where);
    assert.deepEqual(
      granted.filter((where) => !where.startsWith('upstream-')),
      [],
    );
  });

  it('has a bound and a reason', () => {
    const all = [...latenessOfProxies(), ...settlingOfScenarios()];
    for (const { where, withinMs, reason } of all) {
      assert.ok(withinMs > 0 && withinMs <= MOST_SETTLING_MS, `${where}: ${withinMs} ms`);
      assert.ok(reason.length > 20, `${where} gives no reason`);
    }
  });

  it('is listed in docs/conformance.md', async () => {
    const file = new URL('../docs/conformance.md', import.meta.url);
    assert.ok(
      (await readFile(file, 'utf8')).includes(`\n${allowancesMarkdown()}\n`),
      'npm run conformance -- --docs writes it',
    );
  });

  it('leaves alone those that change Nodes, which all others share', () => {
    const changing = CORPUS.filter(({ steps }) =>
      steps.some((step) => 'change' in step && step.change.some((each) => 'taintNode' in each)),
    );
    assert.ok(changing.length > 0);
    for (const { name, setup } of changing) assert.equal(setup?.alone, true, name);
  });
});

describe('the setups', () => {
  it('name networks that exist', () => {
    const networks = NETWORK_VARIANTS.map((variant) => variant.name);
    for (const { name, setup } of CORPUS) {
      if (setup?.network !== undefined) assert.ok(networks.includes(setup.network), name);
    }
  });
});

describe('the sabotages', () => {
  it('are at least twelve, and each names a scenario that exists', () => {
    const names = new Set(CORPUS.map((scenario) => scenario.name));
    const sabotages = ['upstream-nftables', 'fairlead-nftables'].flatMap(sabotagesFor);
    assert.ok(sabotagesFor('upstream-nftables').length >= 12, `${sabotages.length} sabotages`);
    for (const sabotage of sabotages) {
      const scenario = noticerOf(sabotage);
      if (scenario !== undefined) assert.ok(names.has(scenario), `${sabotage.name}: ${scenario}`);
    }
  });

  it('are late in every mode of Fairlead: one Service, everything, and every change', () => {
    for (const { name } of PROXY_VARIANTS.filter(({ name }) => name.startsWith('fairlead-'))) {
      const late = sabotagesFor(name).filter((sabotage) => 'delayMs' in sabotage);
      assert.ok(late.some(({ noticedBy }) => noticedBy === 'promptness'));
      assert.ok(late.some(({ noticedBy }) => noticedBy === 'every change'));
      assert.ok(late.some(({ service }) => service === 'NAMESPACE/web'));
    }
  });

  it('excuse only scenarios that change something, each with a reason', () => {
    for (const [name, reason] of Object.entries(BLIND_TO_LATENESS)) {
      const scenario = CORPUS.find((candidate) => candidate.name === name);
      assert.ok(
        scenario?.steps.some((step) => 'change' in step),
        name,
      );
      assert.ok(reason.length > 20, name);
    }
  });
});

/** Undefined: it is no scenario alone. */
function noticerOf(sabotage: Sabotage): string | undefined {
  if ('act' in sabotage) return sabotage.scenario;
  if ('outside' in sabotage) return sabotage.outside;
  return typeof sabotage.noticedBy === 'object' ? sabotage.noticedBy.scenario : undefined;
}
