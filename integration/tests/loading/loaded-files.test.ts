import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../../../lab/host/run.ts';
import { MODE_NAMES } from '../../../src/config/modes.ts';
import { WINGS } from '../../../src/wings/wing-registry.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MANIFEST = `
apiVersion: v1
kind: Service
metadata: { namespace: shop, name: web }
spec: { clusterIP: 10.96.0.10, clusterIPs: [10.96.0.10], ipFamilies: [IPv4], ports: [{ port: 80 }] }
`;

let folder = '';
let manifest = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fairlead-loaded-'));
  manifest = join(folder, 'objects.yaml');
  await writeFile(manifest, MANIFEST);
});
after(() => rm(folder, { recursive: true }));

/** The files of src that a command has loaded when it ends, as V8 counted them. */
async function loadedBy(...args: readonly string[]): Promise<readonly string[]> {
  const counts = await mkdtemp(join(folder, 'counts-'));
  await run([process.execPath, join(ROOT, 'src/main.ts'), ...args], {
    env: { NODE_V8_COVERAGE: counts },
  });
  const texts = (await readdir(counts)).map((name) => readFile(join(counts, name), 'utf8'));
  const urls = (await Promise.all(texts)).flatMap((text) =>
    (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url),
  );
  const files = urls
    .filter((url) => url.startsWith('file:'))
    .map((url) => relative(ROOT, fileURLToPath(url)))
    .filter((file) => file.startsWith('src/'));
  assert.ok(files.includes('src/main.ts'), 'no file was counted');
  return [...new Set(files)].sort();
}

function below(files: readonly string[], ...folders: readonly string[]): readonly string[] {
  return files.filter((file) => folders.some((each) => file.startsWith(each)));
}

describe('the program loads', () => {
  it('no data plane, no netlink and no wing to list the Services of manifests', async () => {
    const files = await loadedBy('services', '-f', manifest, '--node', 'here');
    const planes = ['src/dataplanes/', 'src/linux/netlink/', 'src/linux/route/'];
    assert.deepEqual(below(files, ...planes), []);
    assert.deepEqual(wingsOf(files), []);
  });

  it('no data plane for the help of a command', async () => {
    for (const command of ['status', 'run']) {
      const files = await loadedBy(command, '--help');
      assert.deepEqual(below(files, 'src/dataplanes/nftables/'), [], command);
      assert.deepEqual(wingsOf(files), [], command);
    }
  });

  for (const mode of MODE_NAMES) {
    it(`mode ${mode} without the other modes`, async () => {
      const owners = WINGS.filter(({ modes = [] }) => modes.some(({ name }) => name === mode));
      const own = owners.map(({ name }) => name);
      const files = await loadedBy('render', '--mode', mode, '-f', manifest, '--node', 'here');
      assert.ok(below(files, 'src/dataplanes/', 'src/wings/').length > 0, 'the mode is loaded');
      assert.deepEqual(wingsOf(files), own);
    });
  }
});

/** Those of which a file is loaded, sorted. */
function wingsOf(files: readonly string[]): readonly string[] {
  const names = files.flatMap((file) => /^src\/wings\/([^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}
