import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { until } from '../time/testing/until.ts';
import { readDocuments } from './manifests/documents.ts';
import { objectsOf } from './manifests/manifest-set.ts';
import { ManifestsSource, type ManifestsSourceOptions } from './manifests-source.ts';

const SYNCED = ['service', 'slice', 'node', 'serviceCidr', 'namespace'].map(
  (kind) => `${kind} synced`,
);

function service(name: string, ip: string): string {
  return `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\nspec: {clusterIP: "10.96.0.${ip}", ports: [{port: 80}]}\n`;
}

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-manifests-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** Runs a source; `told` collects its reports. */
function start(t: TestContext, options: ManifestsSourceOptions) {
  const told: string[] = [];
  const problems: string[] = [];
  const source = new ManifestsSource({
    ...options,
    onProblem: (problem) => problems.push(problem.message),
  });
  const stop = new AbortController();
  const done = source.run((event) => {
    told.push(event.type === 'synced' ? `${event.kind} synced` : `${event.type} ${event.key}`);
  }, stop.signal);
  t.after(async () => {
    stop.abort();
    await done;
  });
  return { told, problems, source, done };
}

describe('ManifestsSource, read once', () => {
  it('reads every form of manifests, and ignores other kinds', async (t) => {
    const folder = await folderFor(t);
    const slice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'a-1', namespace: 'x', labels: { 'kubernetes.io/service-name': 'a' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'] }],
    };
    const cidr = { metadata: { name: 'main' }, spec: { cidrs: ['10.96.0.0/16'] } };
    const lists = [
      { apiVersion: 'v1', kind: 'List', items: [slice, { kind: 'Pod', metadata: { name: 'p' } }] },
      { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDRList', items: [cidr] },
    ];
    await writeFile(join(folder, 'b.yml'), `${service('a', 'None')}---\n---\n${service('b', '1')}`);
    await writeFile(join(folder, 'c.json'), JSON.stringify(lists[0]));
    await writeFile(join(folder, 'd.json'), JSON.stringify(lists[1]));
    await writeFile(join(folder, 'readme.txt'), 'no manifest');
    const knative = service('other', '1').replace('v1', 'serving.knative.dev/v1');
    await writeFile(join(folder, 'e.yaml'), knative);
    const { told, problems, done } = start(t, { paths: [folder], isWatching: false });
    await done;
    assert.deepEqual(told, ['put default/a', 'put default/b', 'put main', 'put x/a-1', ...SYNCED]);
    assert.deepEqual(problems, []);
  });

  it('reports the position of a broken document, and reads the others', async (t) => {
    const folder = await folderFor(t);
    const file = join(folder, 'a.yaml');
    await writeFile(file, `${service('a', '1')}---\nkind: [\n---\n${service('b', '2')}`);
    const missing = join(folder, 'missing.yaml');
    const { told, problems, source, done } = start(t, {
      paths: [file, missing],
      isWatching: false,
    });
    await done;
    assert.deepEqual(told, ['put default/a', 'put default/b', ...SYNCED]);
    assert.equal(problems.length, 2);
    assert.ok(problems[0]?.startsWith(`${file}:7: `), problems[0]);
    assert.equal(problems[1], `cannot read ${missing}: no such file`);
    assert.equal(source.health()[0]?.skippedCount, 2);
  });

  it('reports an object that the API server would reject, and reads the others', async (t) => {
    const file = join(await folderFor(t), 'a.json');
    const named = (name: unknown) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name } });
    const items = [named('a" -j ACCEPT\nCOMMIT'), named(undefined), named('b')];
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const { told, problems, done } = start(t, { paths: [file], isWatching: false });
    await done;
    assert.deepEqual(told, ['put default/b', ...SYNCED]);
    assert.match(problems[0] ?? '', /service "a\\" -j ACCEPT\\nCOMMIT": .*would reject/);
    assert.match(problems[1] ?? '', /a service without a name$/);
  });

  it('reads standard input', async (t) => {
    async function* input() {
      yield Buffer.from(service('a', '1'));
    }
    const options = { paths: ['-'], isWatching: false, standardInput: input() };
    const { told, done } = start(t, options);
    await done;
    assert.deepEqual(told, ['put default/a', ...SYNCED]);
  });
});

describe('ManifestsSource, watched', () => {
  it('reports differences, and keeps the objects of a document that becomes invalid', async (t) => {
    const folder = await folderFor(t);
    const file = join(folder, 'a.yaml');
    await writeFile(file, `${service('a', '1')}---\n${service('b', '2')}`);
    const { told, problems } = start(t, { paths: [folder], isWatching: true });
    await until('the first read', () => told.length === SYNCED.length + 2);
    told.length = 0;

    await writeFile(file, `${service('a', '1')}---\nkind: [\n---\n${service('b', '3')}`);
    await until('the change', () => told.length > 0);
    assert.deepEqual(told, ['put default/b']);
    assert.equal(problems.length, 1);

    await writeFile(join(folder, 'new.yaml'), service('c', '4'));
    await until('the new file', () => told.length > 1);
    await rm(file);
    await until('the deletes', () => told.length > 3);
    assert.deepEqual(told.slice(1), ['put default/c', 'delete default/a', 'delete default/b']);
  });

  it('follows a symbolic link that is replaced, as in a mounted ConfigMap', async (t) => {
    const folder = await folderFor(t);
    for (const [version, ip] of [
      ['v1', '1'],
      ['v2', '2'],
    ] as const) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'a.yaml'), service('a', ip));
    }
    await symlink('v1', join(folder, '..data'));
    await symlink('..data/a.yaml', join(folder, 'a.yaml'));
    const { told } = start(t, { paths: [join(folder, 'a.yaml')], isWatching: true });
    await until('the first read', () => told.length === SYNCED.length + 1);
    await symlink('v2', join(folder, '..tmp'));
    await rename(join(folder, '..tmp'), join(folder, '..data'));
    await until('the change', () => told.length === SYNCED.length + 2);
    assert.equal(told.at(-1), 'put default/a');
  });
});

it('never throws, whatever the text', () => {
  const piece = fc.constantFrom('---\n', '- ', 'a: ', '&x ', '*x ', '{', '}', '[', '\n', '  ', '"');
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(piece, fc.string())).map((all) => all.join('')),
  );
  fc.assert(
    fc.property(text, (source) => {
      for (const document of readDocuments(source)) {
        if ('value' in document) objectsOf(document.value);
      }
    }),
  );
});
