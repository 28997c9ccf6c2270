import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ProofStep } from '../../../src/explain/proof/proof.ts';
import { PROTOCOL_TCP } from '../../../src/linux/conntrack/conntrack-protocol.ts';
import { findFlow } from '../../../src/linux/conntrack/find-flow.ts';
import type { BpfMap } from '../../../src/linux/ebpf/map.ts';
import { openPinnedMap } from '../../../src/linux/ebpf/map-create.ts';
import { SLOT } from '../../../src/wings/ebpf/plane/maps/layout.ts';
import { assertProven, at, from, type SceneOf } from './questions.ts';
import type { Explained } from './scene.ts';
import { clusterIp } from './shop.ts';

/** The hook that meets connections of a pod, as it is named in steps. */
type PodHook = 'connect' | 'ingress';

const MOST_ATTEMPTS = 40;
const WRONG_PORT = 7777;
const SERVED_PORT = 8080;
const PLANT_EVERY_MS = 5;

/** What only modes with eBPF programs in front of the rules show. */
export function proveHooks(scene: SceneOf, hook: PodHook): void {
  nameEntries(scene, hook);
  nameFaults(scene);
  leaveNoEntry(scene);
}

function nameEntries(scene: SceneOf, hook: PodHook): void {
  it('names the map entries that chose each endpoint', async (t) => {
    const { client, near, far, explain } = scene();
    const wanted = new Set([`${near.ipv4}:8080`, `${far.ipv4}:8080`]);
    for (let count = 0; wanted.size > 0 && count < MOST_ATTEMPTS; count++) {
      const told = await explain(t, at('web', 'ipv4'), ...from(client));
      assertProven(told, 'REACHES', 0);
      const endpoint = endpointOf(told);
      const entries = entriesOf(told).map(({ hook: where, entry }) => `${where} ${entry}`);
      assert.match(entries[0] ?? '', new RegExp(`^${hook} 10.96.0.10 tcp 80 from pod : slots`));
      assert.ok(entries[1]?.endsWith(` : ${endpoint}`), entries.join());
      wanted.delete(endpoint);
    }
    assert.deepEqual([...wanted], []);
  });

  it('names the entry of the socket hook, from the node itself', async (t) => {
    const told = await scene().explain(t, at('web', 'ipv4'), '--from', 'host');
    assertProven(told, 'REACHES', 0);
    const [entry, slot] = entriesOf(told);
    assert.equal(entry?.hook, 'connect');
    assert.match(entry?.entry ?? '', /^10.96.0.10 tcp 80 from host : slots/);
    assert.ok(slot?.entry?.endsWith(` : ${endpointOf(told)}`));
  });

  it('says why the hook leaves a connection to the rules behind', async (t) => {
    const told = await scene().explain(t, at('none', 'ipv4'), ...from(scene().client));
    assertProven(told, 'REFUSED_NO_ENDPOINTS', 3);
    const [entry] = entriesOf(told);
    assert.equal(entry?.does, 'passes the hook: nftables rejects it');
  });

  it('sends no SYN that a socket hook would not meet', async (t) => {
    const asked = [at('web', 'ipv4'), '--from', 'host', '--probe', 'syn'];
    const { code, explanation } = await scene().explain(t, ...asked);
    assert.match(explanation.notProven ?? '', /meets no socket hook/);
    assert.equal(code, 5);
  });
}

function nameFaults(scene: SceneOf): void {
  it('differs where a map has another endpoint', async (t) => {
    for (const who of [from(scene().client), ['--from', 'host']]) {
      const told = await whileWrong(scene(), () => scene().explain(t, at('web', 'ipv4'), ...who));
      assert.equal(told.explanation.code, 'NOT_AS_PREDICTED', told.explanation.sentence);
      assert.match(told.explanation.sentence, /:7777, which is none of its endpoints/);
      const [, slot] = entriesOf(told);
      assert.match(slot?.does ?? '', /no desired slot/);
      assert.equal(told.code, 4);
    }
  });

  it('names an endpoint where nothing listens', async (t) => {
    for (const who of [from(scene().client), ['--from', 'host']]) {
      const told = await scene().explain(t, at('deaf', 'ipv4'), ...who);
      assert.equal(told.explanation.code, 'ENDPOINT_REFUSES', told.explanation.sentence);
      assert.equal(told.code, 4);
    }
  });
}

function leaveNoEntry(scene: SceneOf): void {
  it('leaves no conntrack entry of a dry probe', async (t) => {
    const asked = [at('web', 'ipv4'), '--probe', 'dry'];
    for (const who of [from(scene().client), ['--from', 'host']]) {
      const told = await scene().explain(t, ...asked, ...who);
      assertProven(told, 'WOULD_REACH', 5);
      const { proof } = told.explanation;
      const [source = '', port] = proof?.source.split(':') ?? [];
      const first = {
        protocol: PROTOCOL_TCP,
        source,
        sourcePort: Number(port),
        destination: clusterIp('web', 'ipv4'),
        destinationPort: 80,
      };
      assert.equal(await findFlow(first), undefined);
      assert.deepEqual(proof?.leftBehind, []);
    }
  });
}

/** The agent repairs what is planted within a second, so it is planted again and again. */
async function whileWrong(
  { pinFolder }: { readonly pinFolder: string },
  explain: () => Promise<Explained>,
): Promise<Explained> {
  const slots = openPinnedMap(join(pinFolder, 'maps/slots'));
  let keys: readonly Buffer[] = [];
  const planting = setInterval(() => plantWrongPorts(slots, keys), PLANT_EVERY_MS);
  try {
    for (let attempt = 0; ; attempt++) {
      // A repair may have moved them.
      keys = keysOf(slots);
      plantWrongPorts(slots, keys);
      const told = await explain();
      const isRepaired = told.explanation.proof?.agrees !== false;
      if (!isRepaired || attempt >= MOST_ATTEMPTS) return told;
    }
  } finally {
    clearInterval(planting);
    slots.close();
  }
}

/** Of the slots that have the port of the endpoints. */
function keysOf(slots: BpfMap): readonly Buffer[] {
  const keys = Array.from({ length: slots.maxEntries }, (_, index) => {
    const key = Buffer.alloc(4);
    key.writeUInt32LE(index);
    return key;
  });
  return keys.filter((key) => slots.lookup(key)?.readUInt16BE(SLOT.port) === SERVED_PORT);
}

function plantWrongPorts(slots: BpfMap, keys: readonly Buffer[]): void {
  for (const key of keys) {
    const slot = slots.lookup(key);
    if (slot === undefined) continue;
    slot.writeUInt16BE(WRONG_PORT, SLOT.port);
    slots.update(key, slot);
  }
}

function entriesOf({ explanation }: Explained): readonly ProofStep[] {
  return explanation.proof?.steps.filter(({ entry }) => entry !== undefined) ?? [];
}

function endpointOf({ explanation }: Explained): string {
  const outcome = explanation.proof?.outcome;
  return outcome?.is === 'forwarded' ? outcome.endpoint : '';
}
