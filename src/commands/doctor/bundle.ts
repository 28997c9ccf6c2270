import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import { arch, release } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { buildConfig } from '../../config/load-config.ts';
import { HISTORY_FILE, STATUS_SOCKET } from '../../config/run-folder.ts';
import type { Report } from '../../doctor/doctor-report.ts';
import { printedBy } from '../../linux/printed-by.ts';
import { findProgram, toolName } from '../../linux/xtables/iptables-programs.ts';
import { systemClock } from '../../time/clock.ts';
import { CommandError } from '../command-error.ts';
import { readWholeHistory, savedEntries } from '../history/read-history.ts';
import { VERSION } from '../run/program-version.ts';
import type { Patient } from './examined-subject.ts';
import { withoutSecrets } from './secrets.ts';
import { type TarFile, tarOf } from './tar.ts';

const FOLDER = 'fairlead-doctor';
const ONLY_OWNER = 0o600;
const JOURNAL = ['-u', 'fairlead', '-n', '5000', '--no-pager', '-o', 'short-iso-precise'];

export interface BundleContents {
  readonly report: Report;
  /** The same for people. */
  readonly text: string;
  readonly patient: Patient;
}

/** Writes one archive for whoever is asked for help: no credentials, only for its owner to read. */
export async function writeBundle(path: string, contents: BundleContents): Promise<void> {
  const files = await bundleFiles(contents);
  try {
    // A file that exists may be readable for others, or a link to another one.
    const isNew = { mode: ONLY_OWNER, flag: 'wx' };
    await writeFile(path, gzipSync(tarOf(files, systemClock.wallMs())), isNew);
  } catch (cause) {
    throw new CommandError(`cannot write the bundle to ${path}: ${String(cause)}`, {
      code: 'BUNDLE_NOT_WRITTEN',
      next: 'pass a path that does not exist yet, in a folder that can be written to',
      cause,
    });
  }
}

async function bundleFiles({ report, text, patient }: BundleContents): Promise<TarFile[]> {
  const { agent, status, subject } = patient;
  const files: readonly (readonly [string, () => string | Promise<string>])[] = [
    ['doctor.json', () => json(report)],
    ['doctor.txt', () => `${text}\n`],
    ['versions.json', () => json(versionsOf(patient))],
    ['config.yaml', () => agent?.configuration ?? '# no agent answers\n'],
    ['status.json', () => json(status ?? 'no agent answers')],
    [
      'facts.json',
      () => json(agent ? { facts: agent.facts, view: agent.view } : 'no agent answers'),
    ],
    ['diff.json', async () => json((await subject.node?.differences()) ?? 'no agent answers')],
    ['history.json', () => readHistoryOf(patient)],
    ['metrics.txt', () => readMetrics(agent?.configuration)],
    ['log.txt', () => printedBy('journalctl', JOURNAL)],
    ['rules/nft.txt', () => printedBy('nft', ['list', 'ruleset'])],
    ...RULES,
    ['network/links.txt', () => printedBy('ip', ['-d', 'address'])],
    ['network/routes.txt', () => printedBy('ip', ['route', 'show', 'table', 'all'])],
    ['network/routes6.txt', () => printedBy('ip', ['-6', 'route', 'show', 'table', 'all'])],
    ['network/rules.txt', () => printedBy('ip', ['rule'])],
  ];
  return await Promise.all(
    files.map(async ([name, read]) => ({
      path: `${FOLDER}/${name}`,
      text: withoutSecrets(await orWhyNot(read)),
    })),
  );
}

/** Only tables that exist: the legacy program would create others. `iptables-save` asks for those alone. */
const RULES = (['nft', 'legacy'] as const).flatMap((backend) =>
  (['IPv4', 'IPv6'] as const).map((family) => {
    const tool = toolName(family, 'save');
    return [
      `rules/${tool}-${backend}.txt`,
      async () => {
        const program = findProgram(backend);
        if (program === undefined) return `# iptables-${backend} is not installed\n`;
        return await printedBy(program, [tool]);
      },
    ] as const;
  }),
);

function versionsOf({ agent }: Patient): unknown {
  return {
    command: VERSION,
    agent: agent?.version ?? null,
    mode: agent?.mode ?? null,
    node: process.version,
    kernel: release(),
    architecture: arch(),
  };
}

async function readHistoryOf({ agent, runFolder }: Patient): Promise<string> {
  if (agent === undefined) return json({ saved: savedEntries({}, join(runFolder, HISTORY_FILE)) });
  return json(await readWholeHistory({}, { socketPath: join(runFolder, STATUS_SOCKET) }));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** One part that fails must not cost the others. */
async function orWhyNot(read: () => string | Promise<string>): Promise<string> {
  try {
    return await read();
  } catch (error) {
    return `# could not be read: ${error instanceof Error ? error.message : String(error)}\n`;
  }
}

const DEADLINE_MS = 5000;

/** The page of the metrics server of the agent with this configuration. */
async function readMetrics(configuration: string | undefined): Promise<string> {
  if (configuration === undefined) return '# no agent answers\n';
  const file = { path: 'configuration of the agent', text: configuration };
  const { ip: listensOn, port } = buildConfig(new Map(), file).settings.metricsServer;
  const host = isEverywhere(listensOn) ? 'localhost' : listensOn;
  return await get({ host, port });
}

function isEverywhere(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::';
}

async function get(server: { readonly host: string; readonly port: number }): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const request = http.get({ ...server, path: '/metrics', signal, agent: false }, resolve);
  request.on('error', reject);
  const chunks: Buffer[] = [];
  for await (const chunk of (await promise) as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
