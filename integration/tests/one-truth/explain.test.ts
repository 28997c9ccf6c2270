import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { findBasis } from '../../../src/commands/basis/basis.ts';
import { type Grounds, groundsOf } from '../../../src/commands/explain/grounds.ts';
import { predict } from '../../../src/forwarding/answer/predict.ts';
import type { Prediction } from '../../../src/forwarding/answer/prediction.ts';
import { endpointKey } from '../../../src/forwarding/endpoints.ts';
import {
  type Forwarding,
  type Frontend,
  SOURCE_CLASSES,
  type SourceClass,
  servicePortKey,
} from '../../../src/forwarding/model.ts';
import { type Case, cases } from './cases.ts';
import { READERS } from './readers.ts';
import { askCommand, serveCase } from './run-commands.ts';
import { NOTHING, type Told } from './told.ts';

const RUNS = 150;
const SEED = 22_022;

/** What is predicted, in the words of those who read rules. */
function toldByPrediction(prediction: Prediction): Told {
  if (prediction.action === 'pass') return NOTHING;
  if (prediction.action === 'other-service') return NOTHING;
  if (prediction.action !== 'forward') return { ...NOTHING, action: prediction.action };
  const { endpoints, masquerade } = prediction;
  return { action: 'forward', endpoints: endpoints.map(endpointKey).sort(), masquerade };
}

/** An address at which the frontend is reached; undefined: there is none on this node. */
function addressOf({ kind, address }: Frontend, { id }: Forwarding, { place }: Grounds) {
  if (kind !== 'node-port') return address;
  const served = place.facts.nodePortAddresses[id.family];
  const own = place.view.nodeIPs.filter((ip) => ip.includes(':') === (id.family === 'IPv6'));
  return served === 'all' ? own[0] : served[0];
}

/**
 * The readers follow a packet of an allowed source to a frontend that is served. They take no
 * account of the hook: a machine without a Node object serves itself only, and of the node itself
 * mode iptables checks no packets to external addresses.
 */
function isComparable(frontend: Frontend, source: SourceClass, { place }: Grounds): boolean {
  if (frontend.notServed !== undefined || frontend.allowedSources?.length === 0) return false;
  if (source !== 'host' && place.facts.clientInterfaces?.length === 0) return false;
  const isExternal = frontend.kind === 'external-ip' || frontend.kind === 'load-balancer-ip';
  return !(isExternal && source === 'host' && place.leavesAlone?.ownPacketsToExternalIPs);
}

/** Gives the number of questions. */
async function assertRulesDoAsPredicted(t: TestContext, one: Case): Promise<number> {
  await using node = await serveCase(one);
  const pages = await askCommand(t, 'render', node.byFiles);
  const [, filename = '', , config = ''] = node.byFiles;
  const options = { filename: [filename], node: one.nodeName, runFolder: '/nowhere' };
  const basis = await findBasis({ flags: new Map([['config', [config]]]), options });
  const grounds = await groundsOf(basis, undefined);
  let asked = 0;
  for (const row of grounds.rows) {
    const page = pages.find(({ key }) => key === servicePortKey(row.id));
    assert.ok(page);
    for (const [index, frontend] of row.frontends.entries()) {
      const [address, rendered] = [addressOf(frontend, row, grounds), page.frontends[index]];
      if (address === undefined || rendered === undefined) continue;
      const to = { address, port: frontend.port, protocol: row.id.protocol };
      for (const source of SOURCE_CLASSES.filter((s) => isComparable(frontend, s, grounds))) {
        const from = { class: source, because: '' };
        const prediction = predict({ source: from, to }, grounds.rows, grounds.place);
        const done: Told = READERS[one.mode](page, rendered, source);
        const what: string = `${one.mode}: ${page.key} at ${address}:${to.port} from ${source}`;
        assert.deepEqual(toldByPrediction(prediction), done, what);
        asked += 1;
      }
    }
  }
  return asked;
}

describe('predictions of explain', () => {
  it(`equal what the printed rules do, in ${RUNS} generated nodes`, async (t) => {
    let asked = 0;
    await fc.assert(
      fc.asyncProperty(cases(), async (one) => {
        asked += await assertRulesDoAsPredicted(t, one);
      }),
      { numRuns: RUNS, seed: SEED },
    );
    assert.ok(asked > RUNS, `only ${asked} questions`);
    t.diagnostic(`${asked} questions`);
  });
});
