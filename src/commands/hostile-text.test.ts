import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Command } from 'commander';
import { openHttpServer } from '../agent/servers/http.ts';
import { serving } from '../agent/servers/testing/serving-server.ts';
import { STATUS_SOCKET } from '../config/run-folder.ts';
import { configCommand } from './config.ts';
import { explainCommand } from './explain-command.ts';
import { runProgram } from './program.ts';
import { renderCommand } from './render-command.ts';
import { servicesCommand } from './services.ts';
import { statusCommand } from './status-command.ts';

/** Clears the screen, sets the title, hides, begins a line of its own, runs backwards. */
const HOSTILE = 'x\x1b[2J\x1b]0;t\x07\x1b[8m\x9b8m\nI0101 00:00:00.000 forged\r\u202e\u2028';
/**
 * Characters that a terminal acts on; line ends are the command's own, and counted where it
 * matters.
 */
const ACTS = /(?!\n)[\p{Cc}\u200b-\u200f\u2028-\u202e\u2066-\u2069]/u;

interface Output {
  readonly out: string;
  readonly err: string;
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-hostile-'));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function run(t: TestContext, command: Command, ...args: string[]): Promise<Output> {
  const out: string[] = [];
  const err: string[] = [];
  const log = t.mock.method(console, 'log', (text: string) => out.push(`${text}\n`));
  const error = t.mock.method(console, 'error', (text: string) => err.push(`${text}\n`));
  const before = process.exitCode;
  try {
    await runProgram(async () => [command], [command.name(), ...args]);
  } finally {
    process.exitCode = before;
    for (const { mock } of [log, error]) mock.restore();
  }
  return { out: out.join(''), err: err.join('') };
}

function assertHarmless({ out, err }: Output): void {
  assert.doesNotMatch(out + err, ACTS);
  assert.doesNotMatch(out + err, /^I0101/m, 'a line that nobody wrote');
}

/** A Service and its endpoint, on a node whose name no API server would have accepted. */
function manifest(nodeName: string): string {
  const metadata = { name: 'web', namespace: 'shop' };
  const spec = { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'], ports: [{ port: 80 }] };
  const service = { apiVersion: 'v1', kind: 'Service', metadata, spec };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ port: 80 }],
    endpoints: [{ addresses: ['10.1.0.1'], nodeName }],
  };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [service, slice] });
}

describe('untrusted text in output for people', () => {
  it('does not act on the terminal: fields of a manifest', async (t) => {
    const file = join(await folder(t), 'a.json');
    await writeFile(file, manifest(HOSTILE));
    const given = ['-f', file, '--node', 'n1'];
    const wide = await run(t, servicesCommand(), ...given, '-o', 'wide');
    assertHarmless(wide);
    assert.match(wide.out, /10\.1\.0\.1:80 +x\\x1b\[2J\\x1b\]0;t\\x07/);
    assertHarmless(await run(t, renderCommand(), ...given));
    const explained = await run(t, explainCommand(), ...given, 'shop/web');
    assertHarmless(explained);
    assert.match(explained.out, /10\.1\.0\.1:80 +x\\x1b\[2J\\x1b\]0;t\\x07/);
    assertHarmless(await run(t, explainCommand(), ...given, HOSTILE));
    assertHarmless(await run(t, explainCommand(), ...given, 'shop/web', '--from', HOSTILE));
  });

  it('stays the same value in JSON', async (t) => {
    const file = join(await folder(t), 'a.json');
    await writeFile(file, manifest(HOSTILE));
    const { out } = await run(t, servicesCommand(), '-f', file, '--node', 'n1', '-o', 'json');
    assert.equal(JSON.parse(out)[0].candidates[0].nodeName, HOSTILE);
    assert.doesNotMatch(out, ACTS);
  });

  it('does not act on the terminal: a manifest that cannot be read, and its name', async (t) => {
    const file = join(await folder(t), `${HOSTILE.replaceAll('/', '')}.yaml`);
    await writeFile(file, `kind: [\n"${HOSTILE}`);
    const said = await run(t, servicesCommand(), '-f', file, '--node', 'n1');
    assert.match(said.err, /MANIFEST_BROKEN/);
    assertHarmless(said);
  });

  it('does not act on the terminal: a configuration', async (t) => {
    const file = join(await folder(t), 'config.yaml');
    const kind = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
    const quoted = JSON.stringify(HOSTILE);
    await writeFile(
      file,
      `${kind}hostnameOverride: ${quoted}\nclientConnection:\n  kubeconfig: ${quoted}\n`,
    );
    assertHarmless(await run(t, configCommand(), '--config', file));
    await writeFile(file, `${kind}mode: ${quoted}\n${quoted}: 1\n`);
    assertHarmless(await run(t, configCommand(), '--config', file));
  });

  it('does not act on the terminal: the status of a process', async (t) => {
    const runFolder = await folder(t);
    const body = JSON.stringify([{ service: HOSTILE, endpoint: HOSTILE, connections: 1 }]);
    const socketPath = join(runFolder, STATUS_SOCKET);
    const answer = () => ({ status: 200, headers: {}, body });
    const server = await openHttpServer({ socketPath }, serving(answer));
    t.after(() => server.close());
    const said = await run(t, statusCommand(), '--run-folder', runFolder, '--counters');
    assert.match(said.out, /x\\x1b\[2J/);
    assertHarmless(said);
  });
});
