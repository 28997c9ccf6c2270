import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NETWORK_VARIANTS } from '../lab/network/variants/registry.ts';
import { PROXY_VARIANTS } from '../lab/proxies/registry.ts';
import { CORPUS } from './corpus.ts';
import { sabotagesFor } from './sabotage/catalogue.ts';

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
    const sabotages = sabotagesFor('upstream-nftables');
    assert.ok(sabotages.length >= 12, `${sabotages.length} sabotages`);
    for (const sabotage of sabotages) {
      assert.ok(names.has(sabotage.scenario), `${sabotage.name}: ${sabotage.scenario}`);
    }
  });
});
