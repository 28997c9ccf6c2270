import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runInThisContext } from 'node:vm';
import { until } from '../../lab/host/until.ts';
import { bundleFairlead } from '../../lab/real/proxies/fairlead.ts';
import { type LateRule, plantLateness } from './planted-lateness.ts';

const PLACE = 'source.run((event) => this.#takeEvent(event), stop)';

describe('plantLateness()', () => {
  it('finds its place in the program of this checkout', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'planted-'));
    const file = join(folder, 'fairlead.mjs');
    await bundleFairlead(file);
    const program = await readFile(file, 'utf8');
    await rm(folder, { recursive: true });
    assert.ok(plantLateness(program).includes('plantedLateness((event) =>'));
  });

  it('fails when there is no such place, or more than one', () => {
    assert.throws(() => plantLateness('nothing of the kind'), /lateness: the program has 0 times/);
    assert.throws(() => plantLateness(`${PLACE}; ${PLACE}`), /lateness: the program has 2 times/);
  });
});

type Event = Readonly<Record<string, unknown>>;

interface Agent {
  readonly keys: string[];
  tell(event: Event): void;
}

const AGENT = `
class Agent {
  keys = [];
  #takeEvent(event) { this.keys.push(event.type + ' ' + event.key); }
  listen(source, stop) { ${PLACE}; }
}
function agent() {
  const made = new Agent();
  made.listen({ run: (onEvent) => { made.tell = onEvent; } });
  return made;
}
`;

const put = (namespace: string, service: string): Event => ({
  kind: 'service',
  type: 'put',
  key: `${namespace}/${service}`,
});
const slice = (type: 'put' | 'delete', service: string): Event => ({
  kind: 'slice',
  type,
  key: `ns/${service}-x`,
  ...(type === 'put' ? { object: { namespace: 'ns', service } } : {}),
});

describe('a program with planted lateness', () => {
  let folder: string;
  let newAgent: () => Agent;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'late-'));
    process.env['FAIRLEAD_PLANTED_LATENESS'] = join(folder, 'rule.json');
    newAgent = runInThisContext(`(() => { ${plantLateness(AGENT)}; return agent; })()`);
  });

  after(() => rm(folder, { recursive: true }));

  async function told(rule: LateRule | undefined, ...events: Event[]): Promise<Agent> {
    const file = join(folder, 'rule.json');
    await rm(file, { force: true });
    if (rule) await writeFile(file, JSON.stringify(rule));
    const agent = newAgent();
    for (const event of events) agent.tell(event);
    return agent;
  }

  it('is in time without a rule', async () => {
    const { keys } = await told(undefined, put('ns', 'web'), put('ns', 'other'));
    assert.deepEqual(keys, ['put ns/web', 'put ns/other']);
  });

  it('passes on what is of a late Service later, and in its order', async () => {
    const rule = { delayMs: 20, services: ['ns/web'] };
    const events = [put('ns', 'web'), slice('put', 'web'), slice('delete', 'web')];
    const { keys } = await told(rule, ...events, put('ns', 'other'), slice('put', 'other'));
    assert.deepEqual(keys, ['put ns/other', 'put ns/other-x']);
    await until(() => keys.length === 5, { what: 'all of it', deadlineMs: 10_000 });
    assert.deepEqual(keys.slice(2), ['put ns/web', 'put ns/web-x', 'delete ns/web-x']);
  });

  it('leaves out the barrier of a late namespace, and nothing where all are late', async () => {
    const events = [put('ns', 'web'), put('ns', 'conformance-barrier'), put('else', 'web')];
    const some = await told({ delayMs: 20, services: ['ns/*'] }, ...events);
    assert.deepEqual(some.keys, ['put ns/conformance-barrier', 'put else/web']);
    const all = await told({ delayMs: 20, services: ['*'] }, ...events);
    assert.deepEqual(all.keys, []);
    await until(() => all.keys.length === 3, { what: 'all of it', deadlineMs: 10_000 });
  });
});
