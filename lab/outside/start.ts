import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { enterNamespace } from '../host/namespaces.ts';
import type { Daemon } from '../host/processes.ts';
import { run } from '../host/run.ts';
import type { Lab } from '../lab.ts';
import { MACHINE, SERVICE_CIDR } from '../network/plan.ts';
import type { ProxySettings, ProxyVariant, SocketPlace } from '../proxies/contract.ts';
import { startProxy } from '../proxies/running.ts';

export interface OutsideStart {
  /** One of Fairlead's: kube-proxy does not start without a Node object. */
  readonly variant: ProxyVariant;
  readonly settings?: ProxySettings;
  /** More of the block `fairlead`; `nodeObject: none` and the Service ranges are always in it. */
  readonly fairlead?: object;
  /** More of the file, beside that block. */
  readonly configuration?: object;
}

/** The files of the agent on the machine. */
interface OutsideFiles {
  readonly runFolder: string;
  readonly configFile: string;
}

export function outsideFiles(labFolder: string): OutsideFiles {
  const folder = join(labFolder, 'proxies', MACHINE);
  return { runFolder: join(folder, 'run'), configFile: join(folder, CONFIG_FILE) };
}

/** Starts Fairlead on the machine, without a Node object; resolves when both families are served. */
export async function startOutside(lab: Lab, start: OutsideStart): Promise<Daemon> {
  const { variant, settings = {}, fairlead = {}, configuration = {} } = start;
  if (variant.servesSockets) await lab.makeSocketPlaces();
  return await startProxy({
    lab: lab.name,
    variant: withoutNode(variant, { ...configuration, fairlead }),
    nodeName: MACHINE,
    credentials: lab.credentials,
    labFolder: lab.folder,
    logFolder: join(lab.folder, 'logs'),
    settings,
    sockets: lab.socketPlace(MACHINE),
  });
}

/** Removes what an agent on the machine that has ended left in the kernel. */
export async function cleanUpOutside(lab: Lab): Promise<void> {
  const { runFolder } = outsideFiles(lab.folder);
  const sockets = lab.socketPlace(MACHINE);
  const folders = [`--run-folder=${runFolder}`, ...(sockets ? cleanupFlags(sockets) : [])];
  const argv = [process.execPath, PROGRAM, 'cleanup', ...folders] as const;
  await run(enterNamespace(lab.namespacePath(MACHINE), argv), { deadlineMs: CLEANUP_DEADLINE_MS });
}

/** Where `fairlead cleanup` finds the programs of a host that is no machine of its own. */
export function cleanupFlags({ cgroupPath, pinFolder }: SocketPlace): string[] {
  return [`--cgroup=${cgroupPath}`, `--pin-folder=${pinFolder}`];
}

/** Changes the block `fairlead` of the file while the agent runs, which reads it again. */
export async function configureOutside(
  { configFile }: Pick<OutsideFiles, 'configFile'>,
  block: object,
): Promise<void> {
  const written = JSON.parse(await readFile(configFile, 'utf8')) as Configuration;
  const fairlead = { ...written.fairlead, ...block };
  await writeFile(configFile, JSON.stringify({ ...written, fairlead }));
}

const PROGRAM = join(import.meta.dirname, '../../src/main.ts');
const OUTSIDE = { nodeObject: 'none', serviceRanges: [SERVICE_CIDR.ipv4, SERVICE_CIDR.ipv6] };
const CONFIG_FILE = 'fairlead.json';
const CLEANUP_DEADLINE_MS = 30_000;

interface Configuration {
  readonly fairlead?: object;
}

/** The same program with the same file, and more in it. */
function withoutNode(variant: ProxyVariant, more: Configuration): ProxyVariant {
  return {
    ...variant,
    async prepare(place) {
      const command = await variant.prepare(place);
      const configFile = join(place.folder, CONFIG_FILE);
      const written = JSON.parse(await readFile(configFile, 'utf8')) as Configuration;
      const fairlead = { ...written.fairlead, ...OUTSIDE, ...more.fairlead };
      await writeFile(configFile, JSON.stringify({ ...written, ...more, fairlead }));
      return command;
    },
  };
}
