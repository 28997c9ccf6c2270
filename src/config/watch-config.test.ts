import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ConfigError } from './config-error.ts';
import { loadConfig } from './load-config.ts';
import { type ConfigChange, fileTrail, watchConfig } from './watch-config.ts';

const DEADLINE_MS = 10_000;

function configuration(verbosity: number): string {
  return [
    'apiVersion: kubeproxy.config.k8s.io/v1alpha1',
    'kind: KubeProxyConfiguration',
    `logging: {verbosity: ${verbosity}}`,
    '',
  ].join('\n');
}

interface Watched {
  /** The next report, which must come before the deadline. */
  readonly next: () => Promise<ConfigChange | ConfigError>;
  /** The file has been read again, whether that was worth a report or not. */
  readonly readAgain: () => Promise<void>;
}

/** Watches until the test ends, and passes on if the watch itself fails. */
async function startWatching(context: TestContext, path: string): Promise<Watched> {
  const reports: (ConfigChange | ConfigError)[] = [];
  const arrived = new EventTarget();
  const load = () =>
    loadConfig(new Map([['config', [path]]])).finally(() =>
      arrived.dispatchEvent(new Event('load')),
    );
  const report = (what: ConfigChange | ConfigError): void => {
    reports.push(what);
    arrived.dispatchEvent(new Event('report'));
  };
  const stop = new AbortController();
  const ended = watchConfig(
    { path, current: await load(), load, onChange: report, onProblem: report },
    stop.signal,
  );
  context.after(async () => {
    stop.abort();
    await ended;
  });
  return {
    next: async () => {
      const signal = AbortSignal.timeout(DEADLINE_MS);
      while (reports.length === 0) await once(arrived, 'report', { signal });
      const first = reports.shift();
      assert.ok(first);
      return first;
    },
    readAgain: async () => {
      await once(arrived, 'load', { signal: AbortSignal.timeout(DEADLINE_MS) });
      // The last read of the file is still running; a write now would invalidate it.
      for (let turn = 0; turn < 10; turn++) await setImmediate();
    },
  };
}

async function folder(context: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-config-'));
  context.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

function verbosityOf(report: ConfigChange | ConfigError): number {
  assert.ok('config' in report, `a change was expected, and not ${String(report)}`);
  assert.deepEqual(
    report.changes.map(({ path, effect }) => [path, effect]),
    [['logging.verbosity', 'live']],
  );
  return report.config.settings.log.verbosity;
}

test('notices a write into the file', async (context) => {
  const path = join(await folder(context), 'config.conf');
  await writeFile(path, configuration(1));
  const watched = await startWatching(context, path);
  await writeFile(path, configuration(2));
  assert.equal(verbosityOf(await watched.next()), 2);
  await writeFile(path, configuration(3));
  assert.equal(verbosityOf(await watched.next()), 3);
});

test('notices another file moved into its place, as editors do it', async (context) => {
  const directory = await folder(context);
  const path = join(directory, 'config.conf');
  await writeFile(path, configuration(1));
  const watched = await startWatching(context, path);
  for (const verbosity of [2, 3]) {
    await writeFile(join(directory, 'config.conf.new'), configuration(verbosity));
    await rename(join(directory, 'config.conf.new'), path);
    assert.equal(verbosityOf(await watched.next()), verbosity);
  }
});

test('notices an update of a ConfigMap, which replaces a link above the file', async (context) => {
  const directory = await folder(context);
  const publish = async (version: string, verbosity: number): Promise<void> => {
    await mkdir(join(directory, version));
    await writeFile(join(directory, version, 'config.conf'), configuration(verbosity));
    await symlink(version, join(directory, '..data_tmp'));
    await rename(join(directory, '..data_tmp'), join(directory, '..data'));
  };
  await publish('..2026_11_15_08_00_00.1', 1);
  await symlink('..data/config.conf', join(directory, 'config.conf'));
  const watched = await startWatching(context, join(directory, 'config.conf'));

  await publish('..2026_11_15_08_00_01.2', 2);
  await rm(join(directory, '..2026_11_15_08_00_00.1'), { recursive: true });
  assert.equal(verbosityOf(await watched.next()), 2);
  // Only the link changes: the old folder stays until the change has been noticed.
  await publish('..2026_11_15_08_00_02.3', 3);
  assert.equal(verbosityOf(await watched.next()), 3);
  await rm(join(directory, '..2026_11_15_08_00_01.2'), { recursive: true });
  await publish('..2026_11_15_08_00_03.4', 4);
  assert.equal(verbosityOf(await watched.next()), 4);
});

test('follows a folder that is replaced as a whole', async (context) => {
  const directory = await folder(context);
  const place = join(directory, 'etc');
  const publish = async (verbosity: number): Promise<void> => {
    await mkdir(place);
    await writeFile(join(place, 'config.conf'), configuration(verbosity));
  };
  await publish(1);
  const watched = await startWatching(context, join(place, 'config.conf'));
  await writeFile(join(place, 'config.conf'), configuration(2));
  assert.equal(verbosityOf(await watched.next()), 2);
  await rename(place, join(directory, 'old'));
  const gone = await watched.next();
  assert.equal('code' in gone && gone.code, 'CONFIG_UNREADABLE');
  await publish(3);
  assert.equal(verbosityOf(await watched.next()), 3);

  // Replaced within a moment, so that no read finds it missing.
  await rename(place, join(directory, 'older'));
  await publish(4);
  assert.equal(verbosityOf(await watched.next()), 4);
  await writeFile(join(place, 'config.conf'), configuration(5));
  assert.equal(verbosityOf(await watched.next()), 5);
});

test('reports an invalid file once and keeps the previous configuration', async (context) => {
  const path = join(await folder(context), 'config.conf');
  await writeFile(path, configuration(1));
  const watched = await startWatching(context, path);
  await writeFile(path, 'kind: Nonsense');
  const problem = await watched.next();
  assert.equal('code' in problem && problem.code, 'CONFIG_KIND');
  await Promise.all([watched.readAgain(), writeFile(path, 'kind: Nonsense')]);
  await writeFile(path, configuration(4));
  assert.equal(verbosityOf(await watched.next()), 4);
});

test('names every link on the way and where the path ends', async (context) => {
  const directory = await folder(context);
  await mkdir(join(directory, 'v1'));
  await symlink('v1', join(directory, 'current'));
  await symlink('current/missing.conf', join(directory, 'a.conf'));
  const trail = await fileTrail(join(directory, 'a.conf'));
  assert.deepEqual(
    [...trail].map(([where, names]) => [where, [...names]]),
    [
      [directory, ['a.conf', 'current']],
      [join(directory, 'v1'), ['missing.conf']],
    ],
  );
  await symlink('loop', join(directory, 'loop'));
  assert.ok(await fileTrail(join(directory, 'loop')));
});
