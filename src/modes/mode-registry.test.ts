import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MODE_NAMES, traitsOf } from '../config/modes.ts';
import { NEEDS_WINGS } from '../wings/testing/needs-wings.ts';
import { allModes, allParts, modeNamed } from './mode-registry.ts';

test('gives each mode the value of its own name', NEEDS_WINGS, async () => {
  for (const name of MODE_NAMES) assert.equal((await modeNamed(name)).name, name);
});

test('has every part of every mode, so that cleanup leaves none behind', NEEDS_WINGS, async () => {
  const known = new Set((await allParts()).map(({ name }) => name));
  for (const name of MODE_NAMES) {
    const { parts } = await modeNamed(name);
    assert.ok(parts.length > 0);
    for (const part of parts) assert.ok(known.has(part.name), `${name}: ${part.name}`);
  }
});

test(
  "counts failures under kube-proxy's names for the facility that is written",
  NEEDS_WINGS,
  async () => {
    const names = (await allModes()).map(({ name, failureMetrics }) => [name, failureMetrics]);
    const nftables = {
      writes: 'nftables_sync_failures_total',
      cleanups: 'nftables_cleanup_failures_total',
    };
    assert.deepEqual(Object.fromEntries(names), {
      nftables,
      iptables: {
        writes: 'iptables_restore_failures_total',
        partialWrites: 'iptables_partial_restore_failures_total',
      },
      ipvs: nftables,
      'socket-ebpf': nftables,
      'tc-ebpf': nftables,
      userspace: nftables,
    });
  },
);

test('names what the agent must find out for each mode', () => {
  const needs = MODE_NAMES.map((mode) => [mode, traitsOf(mode).needs] as const);
  const none = { ownAddresses: false, namespaces: false };
  const both = { ownAddresses: true, namespaces: true };
  assert.deepEqual(Object.fromEntries(needs), {
    nftables: none,
    iptables: none,
    ipvs: { ownAddresses: true, namespaces: false },
    'socket-ebpf': both,
    'tc-ebpf': both,
    userspace: none,
  });
});

test('does not start programs for a scrape', NEEDS_WINGS, async () => {
  const slow = (await allModes()).filter(({ readsAttachmentsCheaply: isCheap }) => !isCheap);
  assert.deepEqual(
    slow.map(({ name }) => name),
    ['iptables'],
  );
});
