import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InstantClock } from '../../time/testing/instant-clock.ts';
import { removeOtherModes } from './other-modes.ts';
import type { PlanePart } from './plane.ts';

/** The mode is nftables; each removal fails for the reasons that are given for its part. */
function stage(reasonsOf: Partial<Record<PlanePart, string[]>>) {
  const clock = new InstantClock();
  const calls: PlanePart[] = [];
  const warnings: string[] = [];
  const options = {
    mode: 'nftables' as const,
    clock,
    random: () => 1,
    log: { info: () => undefined, warn: (text: unknown) => void warnings.push(String(text)) },
    open: (part: PlanePart) => ({
      frontends: async () => [],
      remove: async () => {
        calls.push(part);
        const reason = reasonsOf[part]?.shift();
        if (reason !== undefined) throw new Error(reason);
      },
    }),
  };
  return { options, clock, calls, warnings };
}

test('what is left of other modes is removed once, and of this one nothing', async () => {
  const { options, clock, calls } = stage({});
  await removeOtherModes(options, new AbortController().signal);
  assert.deepEqual(calls, ['ebpf hooks', 'iptables']);
  assert.deepEqual(clock.sleptMs, []);
});

test('what could not be removed is tried again, and each new reason is told once', async () => {
  const { options, clock, calls, warnings } = stage({
    iptables: ['locked', 'locked', 'refused', 'refused', 'locked'],
  });
  await removeOtherModes(options, new AbortController().signal);
  assert.deepEqual(calls, ['ebpf hooks', ...Array(6).fill('iptables')]);
  assert.deepEqual(
    warnings.map((text) => text.match(/\w+$/)?.[0]),
    ['locked', 'refused', 'locked'],
  );
  assert.deepEqual(clock.sleptMs, [200, 400, 800, 1600, 3200]);
});

test('it is tried at least once a minute, and no more when the proxy ends', async () => {
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
  await removeOtherModes({ ...options, clock: clockThatEnds }, lifetime.signal);
  assert.equal(Math.max(...clock.sleptMs), 60_000);
  assert.equal(calls.filter((part) => part === 'iptables').length, 11);
});
