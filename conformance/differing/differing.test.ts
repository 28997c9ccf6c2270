import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PROXY_VARIANTS } from '../../lab/proxies/registry.ts';
import { CORPUS } from '../corpus.ts';
import type { Question, Scenario } from '../scenario.ts';
import { answeredBy, asker, clusterIP, nodePort, on, refused, silent, UDP_PORT } from '../words.ts';
import { chooseDiffering } from './choose.ts';
import { choiceLine, choiceList, differingFor } from './differing.ts';
import type { OwnPath } from './own-path.ts';

const PATH: OwnPath = {
  proxy: 'ours',
  counterpart: 'theirs',
  sharedAskers: ['client'],
  sharedTargets: ['healthCheck'],
  sharedProtocols: ['UDP'],
  sharedQualities: ['type', 'trafficDistribution'],
};

function scenario(name: string, more: Partial<Scenario> = {}): Scenario {
  const ask = [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }];
  const pods = { a: on(1), near: asker(1) };
  return { name, title: name, pods, services: { web: {} }, steps: [{ ask }], ...more };
}

function namesOf(corpus: readonly Scenario[], timesEach = 1): string[] {
  return chooseDiffering(corpus, PATH, timesEach).chosen.map((one) => one.scenario.name);
}

describe('chooseDiffering', () => {
  it('leaves out a scenario that adds no combination of traits', () => {
    assert.deepEqual(namesOf([scenario('x/one'), scenario('x/two')]), ['x/one']);
  });

  it('chooses as many scenarios of each combination as asked for, where there are so many', () => {
    const corpus = ['x/one', 'x/two', 'x/three'].map((name) => scenario(name));
    assert.deepEqual(namesOf(corpus, 2), ['x/one', 'x/two']);
    assert.deepEqual(namesOf(corpus, 9), ['x/one', 'x/two', 'x/three']);
    assert.deepEqual(namesOf(corpus, 0), []);
  });

  it('chooses what a field of the spec adds that no list names', () => {
    const services = { web: { spec: { fieldOfTomorrow: 'On' } } };
    assert.deepEqual(namesOf([scenario('x/one'), scenario('x/new', { services })]), ['x/new']);
  });

  it('chooses a kind of change, of target and of setting that no list names', () => {
    const change = { reverseTime: 'web' } as never;
    const ask = [{ from: 'pod:near', to: { anycast: 'web' } as never, expect: silent }];
    const corpus = [
      scenario('x/one'),
      scenario('x/change', { steps: [{ change: [change] }, ...scenario('').steps] }),
      scenario('x/target', { steps: [{ ask }] }),
      scenario('x/setting', { setup: { network: 'vxlan' } as never }),
    ];
    assert.deepEqual(namesOf(corpus), ['x/change', 'x/target', 'x/setting']);
  });

  it('leaves out what only shared code decides', () => {
    const services = { web: { spec: { type: 'NodePort', trafficDistribution: 'PreferSameZone' } } };
    const outside = [{ from: 'client', to: nodePort('web', 1), expect: refused }];
    const corpus = [
      scenario('x/one'),
      scenario('x/policy', { services }),
      scenario('x/outside', { services, steps: [{ ask: outside }] }),
      scenario('x/udp', { services: { web: { ports: [UDP_PORT] } } }),
    ];
    assert.deepEqual(namesOf(corpus), ['x/one']);
  });

  it('takes the scenario with the most missing combinations first', () => {
    const both = { ask: [...askedOf('pod:near'), ...askedOf('node1')] };
    const corpus = [scenario('x/one'), scenario('x/both', { steps: [both] })];
    assert.deepEqual(namesOf(corpus), ['x/both']);
  });

  it('always chooses a known difference of the proxy or its counterpart, also on one network', () => {
    for (const proxy of ['ours', 'ours-legacy', 'theirs', 'ours@vxlan']) {
      const otherwise = { [proxy]: { expect: refused, reason: 'there is no rule for it' } };
      const steps = [{ ask: askedOf('pod:near').map((question) => ({ ...question, otherwise })) }];
      const names = namesOf([scenario('x/one'), scenario('x/differs', { steps })]);
      assert.ok(names.includes('x/differs'), proxy);
    }
    const otherwise = { oursons: { expect: refused, reason: 'there is no rule for it' } };
    const steps = [{ ask: askedOf('pod:near').map((question) => ({ ...question, otherwise })) }];
    const names = namesOf([scenario('x/one'), scenario('x/differs', { steps })]);
    assert.deepEqual(names, ['x/one']);
  });

  it('says why each was chosen, and how many of how many', () => {
    const otherwise = { theirs: { expect: refused, reason: 'there is no rule for it' } };
    const differs = scenario('x/differs', {
      steps: [{ ask: askedOf('node1').map((question) => ({ ...question, otherwise })) }],
    });
    const choice = chooseDiffering([scenario('x/one'), scenario('x/same'), differs], PATH, 1);
    assert.match(choiceList(choice), /x\/one\n {4}pod to clusterIP, TCP: answeredBy, and 1 more/);
    assert.match(choiceList(choice), /x\/differs\n {4}known difference/);
    assert.equal(
      choiceLine('ours', choice),
      'ours: 2 of 3 scenarios: 1 with a known difference, 1 more for all 4 combinations on its own path',
    );
  });
});

function askedOf(from: string): Question[] {
  return [{ from, to: clusterIP('web'), expect: answeredBy('a') }];
}

/** Written apart from the code under test: a reader of the JSON would do the same. */
function proxiesWithOtherwise(of: unknown): string[] {
  if (typeof of !== 'object' || of === null) return [];
  return Object.entries(of).flatMap(([key, value]) =>
    key === 'otherwise' ? Object.keys(value ?? {}) : proxiesWithOtherwise(value),
  );
}

describe('the scenarios of --differing', () => {
  for (const { name } of PROXY_VARIANTS) {
    it(`has every known difference of ${name} and of its counterpart`, () => {
      const chosen = new Set(differingFor(name, CORPUS, 1).chosen.map((one) => one.scenario.name));
      const rules = name.includes('iptables') ? 'iptables' : 'nftables';
      const related = [name, `upstream-${rules}`, `fairlead-${rules}`].filter(
        // Upstream's modes are no counterparts of each other, nor ours.
        (other) => other === name || other.split('-')[0] !== name.split('-')[0],
      );
      const missing = CORPUS.filter((one) =>
        proxiesWithOtherwise(one).some((proxy) => related.includes(proxy)),
      ).filter((one) => !chosen.has(one.name));
      assert.deepEqual(
        missing.map((one) => one.name),
        [],
      );
    });

    it(`is neither nothing nor everything for ${name}`, () => {
      const { chosen, total } = differingFor(name, CORPUS, 1);
      assert.ok(chosen.length > total / 5, `${chosen.length} of ${total}`);
      assert.ok(chosen.length < (total * 2) / 3, `${chosen.length} of ${total}`);
    });
  }

  it('throws for a proxy without an own path', () => {
    assert.throws(() => differingFor('fairlead-none', CORPUS, 1), { code: 'LAB_USAGE' });
  });
});
