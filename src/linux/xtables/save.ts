import { spawn } from 'node:child_process';
import { IptablesError } from './iptables-error.ts';
import { type IptablesFamily, type IptablesTable, toolName } from './iptables-programs.ts';
import { parseSaved, type SavedTable } from './saved-table.ts';

const DEADLINE_MS = 60_000;
/** Longer error output is cut here. */
const MOST_COMPLAINT = 500;

export interface SaveCall {
  readonly program: string;
  readonly family: IptablesFamily;
  readonly table: IptablesTable | 'raw' | 'security';
  /** Rules begin with `[packets:bytes]` then. */
  readonly withCounters?: boolean;
}

/** Reads a table as it is now. Rules are as `iptables-save` writes them, without `-A CHAIN`. */
export async function saveTable(call: SaveCall): Promise<SavedTable> {
  return parseSaved(await saveText(call));
}

/**
 * Reads one chain or a whole table. On the nft backend this does not read other tables, whereas
 * `iptables-save -t filter` reads a large nat as well. Undefined: there is no such chain.
 */
export async function listRules(
  call: SaveCall & { readonly chain?: string },
): Promise<SavedTable | undefined> {
  const which = call.chain === undefined ? [] : [call.chain];
  const args = [toolName(call.family, 'list'), '-t', call.table, '-S', ...which];
  const { exitCode, output } = await callProgram(call.program, args);
  if (exitCode !== 0) return undefined;
  // A chain is printed as `-N NAME` or `-P NAME POLICY` here.
  return parseSaved(output.replaceAll(/^-[NP] (\S+).*$/gm, ':$1 - [0:0]'));
}

export async function saveText(call: SaveCall): Promise<string> {
  const { program, family, table } = call;
  const args = [toolName(family, 'save'), '-t', table, ...(call.withCounters ? ['-c'] : [])];
  const { exitCode, output, complaint } = await callProgram(program, args);
  if (exitCode === 0) {
    // The nft backend reports it in a comment and exits with 0, as if the table were empty.
    if (output !== '' && !TABLE_BEGIN.test(output)) throw incompatible(call);
    return output;
  }
  const what = `${args.join(' ')} exited with status ${exitCode}: ${complaint.trim()}`;
  throw new IptablesError('IPTABLES_REFUSED', what);
}

const TABLE_BEGIN = /^\*/m;

function incompatible({ family, table }: SaveCall): IptablesError {
  const list = `nft list table ${family === 'IPv4' ? 'ip' : 'ip6'} ${table}`;
  const what = `cannot read the ${family} table ${table}: it has rules that iptables did not write; \`${list}\` shows them`;
  return new IptablesError('IPTABLES_INCOMPATIBLE', what);
}

async function callProgram(
  program: string,
  args: readonly string[],
): Promise<{ exitCode: number | null; output: string; complaint: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const late = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
  const chunks: Buffer[] = [];
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(0, MOST_COMPLAINT);
  });
  child.on('error', (cause) => {
    reject(new IptablesError('IPTABLES_MISSING', `cannot start ${program}`, { cause }));
  });
  child.on('close', resolve);
  const exitCode = await promise.finally(() => clearTimeout(late));
  return { exitCode, output: Buffer.concat(chunks).toString('latin1'), complaint };
}
