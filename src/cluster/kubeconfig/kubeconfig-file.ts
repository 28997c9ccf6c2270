import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { ClusterError, systemCode } from '../cluster-error.ts';
import { arrayAt, isRecord, type JsonRecord, recordAt, textAt } from '../json.ts';

/** A named entry of a kubeconfig, with its file and the folder of its relative paths. */
export interface Entry {
  readonly value: JsonRecord;
  readonly file: string;
  readonly folder: string;
}

/** Merged kubeconfig files: the first definition wins, as with $KUBECONFIG. */
export interface Kubeconfig {
  readonly files: readonly string[];
  readonly currentContext: string;
  readonly contexts: ReadonlyMap<string, Entry>;
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
}

export async function readKubeconfig(files: readonly string[]): Promise<Kubeconfig> {
  const contexts = new Map<string, Entry>();
  const clusters = new Map<string, Entry>();
  const users = new Map<string, Entry>();
  let currentContext = '';
  for (const file of files) {
    const root = parse(file, await readText(file));
    const folder = dirname(resolve(file));
    currentContext ||= textAt(root, 'current-context');
    collect(contexts, { root, file, folder, list: 'contexts', part: 'context' });
    collect(clusters, { root, file, folder, list: 'clusters', part: 'cluster' });
    collect(users, { root, file, folder, list: 'users', part: 'user' });
  }
  return { files, currentContext, contexts, clusters, users };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new ClusterError('KUBECONFIG_UNREADABLE', `cannot read the kubeconfig ${file}`, {
      next: 'check that the file exists and that this user may read it',
      cause: error,
    });
  }
}

/** Messages of the parser may quote the file, which contains secrets: report only positions. */
function parse(file: string, text: string): JsonRecord {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lineCounter.linePos(error.pos[0]);
    throw invalid(`${file}:${line} is not valid YAML (${error.code})`);
  }
  let root: unknown;
  try {
    root = document.toJS();
  } catch (error) {
    throw invalid(`${file} cannot be used as YAML (${systemCode(error) ?? 'aliases'})`);
  }
  if (!isRecord(root)) throw invalid(`${file} is not a kubeconfig`);
  return root;
}

interface Collection {
  readonly root: JsonRecord;
  readonly file: string;
  readonly folder: string;
  readonly list: string;
  readonly part: string;
}

function collect(into: Map<string, Entry>, { root, file, folder, list, part }: Collection): void {
  for (const item of arrayAt(root, list)) {
    const name = isRecord(item) ? textAt(item, 'name') : '';
    if (!isRecord(item) || name === '' || into.has(name)) continue;
    into.set(name, { value: recordAt(item, part), file, folder });
  }
}

function invalid(message: string): ClusterError {
  return new ClusterError('KUBECONFIG_INVALID', message, {
    next: 'compare it with `kubectl config view`',
  });
}
