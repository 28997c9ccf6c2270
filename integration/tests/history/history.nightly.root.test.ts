import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type KubeObject, paths } from '../../../lab/api/objects.ts';
import type { Daemon } from '../../../lab/host/processes.ts';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import { FAIRLEAD_VARIANTS } from '../../../lab/proxies/fairlead.ts';
import { startProxy } from '../../../lab/proxies/running.ts';
import type { Happening } from '../../../src/agent/history/history-entry.ts';
import type { DatedEntry, HistoryPage } from '../../../src/agent/history/history-page.ts';
import { readWholeHistory } from '../../../src/commands/history/read-history.ts';
import { STATUS_SOCKET } from '../../../src/config/run-folder.ts';
import { type Planned, plannedChanges, sliceOf } from './planned.ts';

const NODE = 'node1';
const CHANGES = 1_000;
const NAMESPACES = ['shop', 'billing', 'search'];
const SERVICES_EACH = 5;
const WAIT_MS = 60_000;
const LONG_MS = 400_000;
const AT_ONCE = 8;
const MAIN = join(import.meta.dirname, '../../../src/main.ts');

/** A change as the API server has taken it. */
interface Made extends Planned {
  readonly resourceVersion: string;
}

describe('the history of a real agent at a real API server', { timeout: LONG_MS }, () => {
  let lab: Lab;
  let proxy: Daemon;

  const startAgent = async (): Promise<Daemon> => {
    const [variant] = FAIRLEAD_VARIANTS;
    assert.ok(variant);
    return await startProxy({
      lab: lab.name,
      variant,
      nodeName: NODE,
      credentials: lab.credentials,
      labFolder: lab.folder,
      logFolder: join(lab.folder, 'logs'),
      settings: {},
      sockets: undefined,
    });
  };
  const runFolder = (): string => join(lab.folder, 'proxies', NODE, 'run');
  const read = async (service?: string): Promise<HistoryPage> =>
    await readWholeHistory(service === undefined ? {} : { service }, {
      socketPath: join(runFolder(), STATUS_SOCKET),
    });
  const say = async (...args: string[]): Promise<string> => {
    const argv = [process.execPath, MAIN, 'history', '--run-folder', runFolder(), ...args] as const;
    const { stdout, stderr, exitCode } = await tryRun([...argv]);
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };

  before(async () => {
    lab = await startLab({ nodeCount: 1 });
    for (const name of NAMESPACES) await lab.api.create(paths.namespaces, { metadata: { name } });
    for (const namespace of NAMESPACES) {
      for (let index = 0; index < SERVICES_EACH; index++) {
        await declare(lab, namespace, `web${index}`);
      }
    }
    await declare(lab, 'shop', 'asked');
    proxy = await startAgent();
  });

  after(async () => {
    await proxy?.stop();
    await lab?.[Symbol.asyncDispose]();
  });

  it('has every one of 1,000 changes, with its writer and when the kernel had it', async () => {
    const made = await makeAll(lab, plannedChanges(CHANGES, NAMESPACES, SERVICES_EACH));
    assert.equal(made.length, CHANGES);
    const last = new Set(made.slice(-AT_ONCE).map(({ resourceVersion }) => resourceVersion));
    const hasLast = async (): Promise<boolean> => {
      const { entries } = await read();
      const found = entries.filter(({ what }) => last.has(versionOf(what)));
      return found.length === last.size && entries.every(({ kernel }) => kernel !== 'waiting');
    };
    await until(hasLast, { what: 'the last changes', deadlineMs: WAIT_MS });
    const { entries } = await read();
    const byVersion = new Map(entries.map((entry) => [versionOf(entry.what), entry]));
    for (const change of made) assertTold(byVersion.get(change.resourceVersion), change);
    const seqs = entries.map(({ seq }) => seq);
    assert.deepEqual(
      seqs,
      seqs.toSorted((a, b) => a - b),
    );
  });

  it('answers who removed an endpoint, and when this node knew', async () => {
    const path = `${paths.slices('shop')}/asked-1?fieldManager=kubectl-edit`;
    await lab.api.replace(path, sliceOf('shop', 'asked', ['10.20.0.2']));
    const hasLeft = async (): Promise<boolean> => {
      const { entries } = await read('shop/asked');
      return entries.some(({ what, kernel }) => what.kind === 'endpoints' && kernel === 'kernel');
    };
    await until(hasLeft, { what: 'the removal', deadlineMs: WAIT_MS });
    const text = await say('shop/asked', '--since', '1h');
    const [first = ''] = text.split('\n');
    assert.match(first, /^shop\/asked: 1 of 2 endpoints left in the last /);
    assert.match(text, /shop\/asked: 10\.20\.0\.1 left, was ready/);
    const line = text.replaceAll(/\s+/g, ' ');
    assert.match(line, /slice asked-1, version \d+, written by kubectl-edit \(Update\) at [\d:]+,/);
    assert.match(line, /in the kernel after [\d.]+ m?s/);
    assert.ok(text.split('\n').every(({ length }) => length <= 80));
  });

  it('tells that the selector changed, and who deleted nothing but the Service', async () => {
    const path = paths.service('shop', 'asked');
    await lab.api.patch(`${path}?fieldManager=kubectl-patch`, { spec: { selector: { app: 'x' } } });
    await lab.api.delete(path);
    const isDeleted = async (): Promise<boolean> => {
      const { entries } = await read('shop/asked');
      return entries.some(({ what }) => what.kind === 'service' && what.change === 'deleted');
    };
    await until(isDeleted, { what: 'the deletion', deadlineMs: WAIT_MS });
    const line = (await say('shop/asked')).replaceAll(/\s+/g, ' ');
    assert.match(line, /Service changed: spec\.selector set to another selector/);
    assert.match(line, /Service deleted version \d+, last written by kubectl-patch \(Update\)/);
    assert.match(line, /the Service does not exist now/);
  });

  it('tells an external change with its process, and the repair', async () => {
    const net = `--net=${lab.namespacePath(NODE)}`;
    const { stderr, exitCode } = await tryRun([
      'nsenter',
      net,
      'nft',
      'delete',
      'table',
      'ip',
      'fairlead',
    ]);
    assert.equal(exitCode, 0, stderr);
    const isRepaired = async (): Promise<boolean> => {
      const { entries } = await read();
      return entries.some(({ what, kernel }) => what.kind === 'repaired' && kernel === 'kernel');
    };
    await until(isRepaired, { what: 'the repair', deadlineMs: WAIT_MS });
    const { entries } = await read();
    const drift = entries.map(({ what }) => what).find((what) => what.kind === 'drift');
    assert.equal(drift?.by?.program, 'nft');
  });

  it('says after a restart what it does not know', async () => {
    await proxy.stop();
    proxy = await startAgent();
    const { entries } = await read();
    const kinds = entries.map(({ what }) => what.kind);
    assert.deepEqual(kinds.slice(-2), ['started', 'first sync']);
    assert.ok(kinds.slice(0, -2).includes('repaired'), 'of the run before');
    const text = (await say('shop/web0')).replaceAll(/\s+/g, ' ');
    assert.match(text, /^shop\/web0: no change in the last \d+ s, since the agent started; /);
    assert.match(text, /what happened between them is not known/);
  });
});

async function declare({ api }: Lab, namespace: string, name: string): Promise<void> {
  await api.create(paths.services(namespace), {
    metadata: { name },
    spec: { ports: [{ port: 80, targetPort: 8080 }] },
  });
  const addresses = ['10.20.0.1', '10.20.0.2'];
  await api.create(paths.slices(namespace), sliceOf(namespace, name, addresses));
}

/** Changes of one object one after the other, those of different objects side by side. */
async function makeAll({ api }: Lab, planned: readonly Planned[]): Promise<readonly Made[]> {
  const made: Made[] = [];
  const lanes = Map.groupBy(planned, ({ lane }) => lane % AT_ONCE);
  await Promise.all(
    Array.from(lanes.values(), async (lane) => {
      for (const change of lane) {
        const path = `${change.path}?fieldManager=${change.writer}`;
        const object =
          change.method === 'PUT'
            ? await api.replace<KubeObject>(path, change.body)
            : await patched(api, path, change);
        made.push({ ...change, resourceVersion: object.metadata.resourceVersion ?? '' });
      }
    }),
  );
  return made;
}

async function patched(api: Lab['api'], path: string, change: Planned): Promise<KubeObject> {
  const contentType = 'application/merge-patch+json';
  const body = JSON.stringify(change.body);
  const { status, text } = await api.raw({ method: 'PATCH', path, body, contentType });
  assert.equal(status, 200, text);
  return JSON.parse(text) as KubeObject;
}

function versionOf(what: Happening): string {
  return 'resourceVersion' in what ? what.resourceVersion : '';
}

function assertTold(entry: DatedEntry | undefined, change: Made): void {
  const about = `${change.writer} changed ${change.path}, version ${change.resourceVersion}`;
  assert.ok(entry, `not told: ${about}`);
  assert.equal(entry.service, change.service, about);
  assert.notEqual(entry.kernel, 'waiting', about);
  const { what } = entry;
  assert.ok('writers' in what);
  assert.ok(
    what.writers.some(({ manager }) => manager === change.writer),
    `${about}: told are ${JSON.stringify(what.writers)}`,
  );
  const told =
    what.kind === 'endpoints'
      ? what.moves.map(({ from, to, endpoints }) => `${endpoints.first}: ${from} to ${to}`)
      : what.fields.map(({ field }) => field);
  assert.deepEqual(told.toSorted(), change.expected.toSorted(), about);
}
