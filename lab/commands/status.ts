import { readdir, readFile } from 'node:fs/promises';
import { LABS_FOLDER, labFolder } from '../host/folders.ts';
import { processesByNamespace } from '../host/namespace-processes.ts';
import { labOfNamespace, listNamespaces, pathOfNamespace } from '../host/namespaces.ts';
import { formatTable } from '../host/table.ts';

export interface LabStatus {
  readonly lab: string;
  readonly folder: string;
  readonly namespaces: readonly NamespaceStatus[];
}

export interface NamespaceStatus {
  readonly role: string;
  readonly processes: readonly { pid: number; command: string; residentMegabytes: number }[];
}

/** What the labs of this machine consist of, read from the machine itself. */
export async function readStatus(): Promise<LabStatus[]> {
  const namespaces = await listNamespaces();
  const labs = new Set([...namespaces.map(labOfNamespace), ...(await leftoverFolders())]);
  const processes = await processesByNamespace(namespaces.map(pathOfNamespace));
  const processesOf = (name: string): readonly number[] =>
    processes.get(pathOfNamespace(name)) ?? [];
  return await Promise.all(
    [...labs].sort().map(async (lab) => ({
      lab,
      folder: labFolder(lab),
      namespaces: await Promise.all(
        namespaces
          .filter((name) => labOfNamespace(name) === lab)
          .map(async (name) => ({
            role: name.split('-').slice(2).join('-'),
            processes: await Promise.all(processesOf(name).map(describeProcess)),
          })),
      ),
    })),
  );
}

export function formatStatus(labs: readonly LabStatus[]): string {
  if (labs.length === 0)
    return 'No lab is up. Start one: npm run lab -- up --proxy upstream-nftables';
  const rows = labs.flatMap(({ lab, namespaces }) =>
    namespaces.flatMap(({ role, processes }) =>
      processes.length === 0
        ? [[lab, role, '-', '', '']]
        : processes.map((p) => [lab, role, p.command, `${p.pid}`, `${p.residentMegabytes} MB`]),
    ),
  );
  const folders = labs.map(({ lab, folder }) => `${lab}: files and logs in ${folder}`);
  return [formatTable([['LAB', 'HOST', 'PROCESS', 'PID', 'MEMORY'], ...rows]), '', ...folders].join(
    '\n',
  );
}

async function leftoverFolders(): Promise<string[]> {
  return await readdir(LABS_FOLDER).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

async function describeProcess(pid: number): Promise<NamespaceStatus['processes'][number]> {
  // A process may exit between the listing and the read.
  const read = (file: string): Promise<string> =>
    readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const [command, status] = await Promise.all([read('comm'), read('status')]);
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  return { pid, command: command.trim(), residentMegabytes: Math.round(kilobytes / 1024) };
}
