import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PUBLISHED_PROXIES, parseProxies } from './contestants.ts';
import { MEASURES } from './measures.ts';
import { planSteps, type Step } from './plan.ts';
import { Remaining } from './remaining.ts';
import { PUBLISHED_SIZES, parseSizes } from './sizes.ts';

const PUBLISHED = {
  contestants: parseProxies(PUBLISHED_PROXIES),
  sizes: parseSizes(PUBLISHED_SIZES),
  measures: MEASURES,
  rounds: 2,
};

const ran = (steps: readonly Step[], proxy: string): number[] =>
  steps
    .filter(({ contestant, notRun }) => contestant?.name === proxy && notRun === undefined)
    .map(({ size }) => size.services);

describe('planSteps()', () => {
  const steps = planSteps(PUBLISHED);

  it('alternates the proxies within a size', () => {
    const turns = steps.filter(({ size }) => size.services === 100);
    const inRound = (round: number): string[] =>
      PUBLISHED.contestants
        .filter(({ oneRoundFrom }) => round === 1 || oneRoundFrom > 100)
        .map(({ name }) => `${name} ${round}`);
    assert.deepEqual(
      turns.map(({ contestant, round }) => `${contestant?.name} ${round}`),
      [1, 2].flatMap(inRound),
    );
  });

  it('publishes every mode, of ours and of upstream, but not the legacy backend', () => {
    const names = PUBLISHED.contestants.map(({ name }) => name);
    assert.ok(names.includes('fairlead-socket-ebpf') && names.includes('upstream-iptables'));
    assert.ok(names.every((name) => !name.endsWith('-legacy')));
  });

  it('never runs what has locked up a kernel, and says so once', () => {
    assert.equal(Math.max(...ran(steps, 'upstream-nftables')), 10_000);
    assert.equal(Math.max(...ran(steps, 'upstream-iptables')), 5_000);
    const said = steps.filter(
      ({ contestant, notRun }) => contestant?.name === 'upstream-nftables' && notRun !== undefined,
    );
    assert.deepEqual(
      said.map(({ size }) => size.services),
      [50_000],
    );
  });

  it('makes at least two hundred changes of ours at every size', () => {
    for (const { services } of PUBLISHED.sizes) {
      const rounds = ran(steps, 'fairlead-nftables').filter((each) => each === services).length;
      assert.ok(rounds * 100 >= 200);
    }
  });

  it('guesses that the published run takes less than an hour', () => {
    const [, minutes] = /about (\d+) min/.exec(new Remaining(steps).text(0)) ?? [];
    assert.ok(Number(minutes) < 60, `${minutes} minutes`);
  });
});
