import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runCommand } from '../../../src/commands/basis/testing/run-command.ts';
import { serveAgent } from '../../../src/commands/basis/testing/served-agent.ts';
import { renderCommand } from '../../../src/commands/render-command.ts';
import { servicesCommand } from '../../../src/commands/services.ts';
import type { Case } from './cases.ts';
import type { RowData } from './told.ts';

/** A node of which everything is known, asked by the commands as a person asks. */
export interface CaseNode extends AsyncDisposable {
  /** By files: `-f`, `--config`, `--node`. */
  readonly byFiles: readonly string[];
  /** By the agent that runs with the same files. */
  readonly byAgent: readonly string[];
}

/** Writes the files, and serves the socket of an agent that has read them. */
export async function serveCase({ nodeName, manifests, configuration }: Case): Promise<CaseNode> {
  const runFolder = await mkdtemp(join(tmpdir(), 'fairlead-one-truth-'));
  const [objects, configPath] = [join(runFolder, 'objects.json'), join(runFolder, 'config.json')];
  await writeFile(objects, manifests);
  await writeFile(configPath, configuration);
  const agent = await serveAgent({ runFolder, configPath, manifests: [objects], nodeName });
  return {
    byFiles: ['-f', objects, '--config', configPath, '--node', nodeName],
    byAgent: ['--run-folder', runFolder],
    [Symbol.asyncDispose]: async () => {
      await agent[Symbol.asyncDispose]();
      await rm(runFolder, { recursive: true });
    },
  };
}

const COMMANDS = { services: servicesCommand, render: renderCommand } as const;

/** The rows that a command prints as JSON, without where they came from. */
export async function askCommand(
  t: TestContext,
  name: keyof typeof COMMANDS,
  args: readonly string[],
): Promise<RowData[]> {
  const { code, out, err } = await runCommand(t, COMMANDS[name](), [...args, '-o', 'json']);
  if (code !== 0) throw new Error(`${name} ${args.join(' ')}: ${err}`);
  const rows = JSON.parse(out) as (RowData & { from: unknown })[];
  return rows.map(({ from: _, ...row }) => row);
}
