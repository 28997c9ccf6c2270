import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InstantClock } from '../time/testing/instant-clock.ts';
import { allParts } from './mode-registry.ts';
import { NFTABLES } from './nftables.ts';
import type { Part } from './part.ts';

const ALL_PARTS = await allParts();

import { NEEDS_WINGS } from '../wings/testing/needs-wings.ts';
import { removeOtherParts } from './remove-other-parts.ts';

/** The mode is nftables; each removal fails for the reasons that are given for its part. */
function stage(reasonsOf: Readonly<Record<string, string[]>>) {
  const clock = new InstantClock();
  const calls: string[] = [];
  const warnings: string[] = [];
  const options = {
    mode: NFTABLES,
    parts: ALL_PARTS,
    clock,
    random: () => 1,
    log: { info: () => undefined, warn: (text: unknown) => void warnings.push(String(text)) },
    open: ({ name }: Part) => ({
      read: async () => undefined,
      remove: async () => {
        calls.push(name);
        const reason = reasonsOf[name]?.shift();
        if (reason !== undefined) throw new Error(reason);
      },
    }),
  };
  return { options, clock, calls, warnings };
}

test('removes the parts of other modes once, and none of its own', NEEDS_WINGS, async () => {
  const { options, clock, calls } = stage({});
  await removeOtherParts(options, new AbortController().signal);
  assert.deepEqual(calls, ['ebpf hooks', 'forwarder', 'ipvs', 'iptables']);
  assert.deepEqual(clock.sleptMs, []);
});

test(
  'logs nothing of a part that finds at once that the kernel has none of it',
  NEEDS_WINGS,
  async () => {
    const { options, calls } = stage({});
    const infos: unknown[] = [];
    const open = (part: Part) =>
      part.name === 'iptables'
        ? { ...options.open(part), retire: async () => 'removed' as const }
        : options.open(part);
    const log = { ...options.log, info: (...told: unknown[]) => void infos.push(told) };
    await removeOtherParts({ ...options, open, log }, new AbortController().signal);
    assert.deepEqual(calls, ['ebpf hooks', 'forwarder', 'ipvs']);
    assert.deepEqual(infos, []);
  },
);

test('retries a removal that failed, and logs each new reason once', NEEDS_WINGS, async () => {
  const { options, clock, calls, warnings } = stage({
    iptables: ['locked', 'locked', 'rejected', 'rejected', 'locked'],
  });
  await removeOtherParts(options, new AbortController().signal);
  assert.deepEqual(calls, ['ebpf hooks', 'forwarder', 'ipvs', ...Array(6).fill('iptables')]);
  assert.deepEqual(
    warnings.map((text) => text.match(/\w+$/)?.[0]),
    ['locked', 'rejected', 'locked'],
  );
  assert.deepEqual(clock.sleptMs, [200, 400, 800, 1600, 3200]);
});

test(
  'removes a part that carries connections after the last of them has ended',
  NEEDS_WINGS,
  async () => {
    const { options, calls, clock } = stage({});
    const left = ['draining', 'draining', 'removed'] as const;
    const infos: unknown[] = [];
    let asked = 0;
    const retire = async () => left[asked++] ?? 'removed';
    const open = (part: Part) =>
      part.name === 'forwarder' ? { ...options.open(part), retire } : options.open(part);
    const log = { ...options.log, info: (...told: unknown[]) => void infos.push(told[1]) };
    await removeOtherParts({ ...options, open, log }, new AbortController().signal);
    assert.equal(asked, 3);
    assert.ok(!calls.includes('forwarder'));
    assert.deepEqual(clock.sleptMs, [200, 400]);
    assert.deepEqual(infos, [
      'connections of another mode go on; it is removed after the last',
      'removed what another mode had left',
    ]);
  },
);

test('retries at least once a minute until the signal is aborted', NEEDS_WINGS, async () => {
  const { options, clock, calls } = stage({ iptables: Array(20).fill('locked') });
  const lifetime = new AbortController();
  const clockThatEnds = {
    monotonicMs: () => clock.monotonicMs(),
    wallMs: () => clock.wallMs(),
    sleep: async (ms: number, signal: AbortSignal) => {
      await clock.sleep(ms, signal);
      if (clock.sleptMs.length === 11) lifetime.abort();
    },
  };
  await removeOtherParts({ ...options, clock: clockThatEnds }, lifetime.signal);
  assert.equal(Math.max(...clock.sleptMs), 60_000);
  assert.equal(calls.filter((part) => part === 'iptables').length, 11);
});
