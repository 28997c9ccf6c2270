import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BtfKind } from '../../../../linux/ebpf/btf.ts';
import { compiledProgram } from '../../../../linux/ebpf/testing/compiled-program.ts';
import {
  ADDRESS_BYTES,
  AddressFlag,
  AFFINITY,
  AFFINITY_COUNT_KEY,
  AFFINITY_KEY,
  AFFINITY_SHARE,
  AffinityCounter,
  CLASS_ORDER,
  ENDED_KEY,
  FRONTEND,
  FRONTEND_KEY,
  InterfaceFlag,
  LAYOUT_VERSION,
  NETWORK,
  OutcomeFlag,
  PEER,
  SETTINGS,
  SettingFlag,
  SLOT,
} from './layout.ts';
import { MAP_NAMES } from './map-set.ts';

const object = compiledProgram('sock');
const { btf } = object;

/** Size and offsets in bytes, by the names that the compiler saw. */
function structOf(name: string): Record<string, number> {
  const id = btf.find(BtfKind.struct, name);
  assert.ok(id !== undefined, name);
  const members = btf.members(id).map((each) => [each.name, each.bitOffset / 8]);
  return { bytes: btf.size(id), ...Object.fromEntries(members) };
}

/** `virtual_port` is `virtualPort` here. */
function asInC(fields: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, at]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      at,
    ]),
  );
}

const STRUCTS = {
  frontend_key: FRONTEND_KEY,
  frontend: FRONTEND,
  slot: SLOT,
  settings: SETTINGS,
  network: NETWORK,
  peer: PEER,
  ended_key: ENDED_KEY,
  affinity_key: AFFINITY_KEY,
  affinity: AFFINITY,
  affinity_count_key: AFFINITY_COUNT_KEY,
  address: { bytes: ADDRESS_BYTES },
};

for (const [name, fields] of Object.entries(STRUCTS)) {
  test(`the writer and the programs have the same layout of ${name}`, () => {
    const compiled = structOf(name);
    for (const [field, at] of Object.entries(asInC(fields))) {
      assert.equal(compiled[field], at, `${name}.${field}`);
    }
  });
}

test('flags, classes and the version have the same numbers on both sides', () => {
  // The compiler leaves no trace of enumerations that no variable has.
  const header = readFileSync(join(import.meta.dirname, '../../../../../bpf/layout.h'), 'utf8');
  const named = (name: string): number =>
    Number(new RegExp(`\\b${name}\\b(?: =)? (\\d+)`).exec(header)?.[1]);
  for (const [name, value] of Object.entries(OutcomeFlag)) {
    assert.equal(named(`OUTCOME_${name.toUpperCase()}`), value, name);
  }
  assert.equal(named('SETTING_LOOPBACK_NODE_PORTS'), SettingFlag.loopbackNodePorts);
  assert.equal(named('SETTING_ONLY_HOST_SOCKETS'), SettingFlag.onlyHostSockets);
  assert.equal(named('ADDRESS_NODE_PORTS'), AddressFlag.nodePorts);
  assert.equal(named('ADDRESS_OWN'), AddressFlag.own);
  for (const [family, value] of Object.entries(InterfaceFlag)) {
    assert.equal(named(`INTERFACE_PODS_${family.toUpperCase()}`), value, family);
  }
  assert.equal(named('LAYOUT_VERSION'), LAYOUT_VERSION);
  assert.equal(named('AFFINITY_SHARE'), AFFINITY_SHARE);
  const counters = Object.keys(AffinityCounter).map((name) => `AFFINITY_${name.toUpperCase()}`);
  assert.ok(header.includes(`enum affinity_counter { ${counters.join(', ')} }`));
  const classes = CLASS_ORDER.map((name) => `CLASS_${name.toUpperCase()}`).join(', ');
  assert.ok(header.includes(`enum source_class { ${classes}, CLASSES }`));
});

test('every map of the object has a known name', () => {
  assert.deepEqual(object.maps.map(({ name }) => name).sort(), [...MAP_NAMES].sort());
});
