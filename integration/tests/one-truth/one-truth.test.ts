import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { MODE_NAMES, type ModeName } from '../../../src/config/modes.ts';
import { SOURCE_CLASSES } from '../../../src/forwarding/model.ts';
import { type Case, cases } from './cases.ts';
import { READERS } from './readers.ts';
import { askCommand, serveCase } from './run-commands.ts';
import { type RowData, type Told, toldByServices } from './told.ts';

const RUNS = 60;
const SEED = 20_261;

/** Each frontend, each source: what is said, and what the rules that are printed do. */
function assertRulesSay(services: readonly RowData[], pages: readonly RowData[], mode: ModeName) {
  assert.deepEqual(
    pages.map(({ key }) => key),
    services.map(({ key }) => key),
  );
  for (const [index, row] of services.entries()) {
    const page = pages[index] as RowData;
    for (const [at, frontend] of row.frontends.entries()) {
      const rendered = page.frontends[at];
      assert.ok(rendered, `${row.key} ${frontend.at}`);
      // On no address: in mode iptables, as in kube-proxy, one without endpoints is rejected anyway.
      if (frontend.nodeAddresses?.length === 0) continue;
      for (const source of SOURCE_CLASSES) {
        const said = toldByServices(row, frontend, source);
        const done: Told = READERS[mode](page, rendered, source);
        assert.deepEqual(done, said, `${mode}: ${row.key} at ${frontend.at} from ${source}`);
      }
    }
  }
}

async function assertOneTruth(t: TestContext, one: Case, otherMode: ModeName): Promise<void> {
  await using node = await serveCase(one);
  const services = await askCommand(t, 'services', node.byFiles);
  const pages = await askCommand(t, 'render', node.byFiles);
  assertRulesSay(services, pages, one.mode);
  assert.deepEqual(await askCommand(t, 'services', node.byAgent), services);
  assert.deepEqual(await askCommand(t, 'render', node.byAgent), pages);
  const inOther = ['--mode', otherMode];
  const other = await askCommand(t, 'render', [...node.byFiles, ...inOther]);
  const byAgent = await askCommand(t, 'render', [...node.byAgent, ...inOther]);
  assert.deepEqual(byAgent.map(decided), other.map(decided));
}

/** The agent uses the addresses of this machine, which do not affect what is compared here. */
function decided({ key, frontends, clusterEndpoints, localEndpoints }: RowData): object {
  const outcomes = frontends.map(({ kind, at, notServed, outcomes: of }) => [
    kind,
    at,
    notServed,
    of,
  ]);
  return { key, outcomes, clusterEndpoints, localEndpoints };
}

describe('services, render and the agent', () => {
  it(`say the same of each frontend, in ${RUNS} generated nodes`, async (t) => {
    await fc.assert(
      fc.asyncProperty(cases(), fc.constantFrom(...MODE_NAMES), (one, otherMode) =>
        assertOneTruth(t, one, otherMode),
      ),
      { numRuns: RUNS, seed: SEED },
    );
  });
});
