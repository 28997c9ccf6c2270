import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Daemon } from '../host/processes.ts';
import type { Lab } from '../lab.ts';
import { MACHINE } from '../network/plan.ts';
import type { ProxySettings, ProxyVariant } from '../proxies/contract.ts';
import { startProxy } from '../proxies/running.ts';

export interface OutsideStart {
  /** One of Fairlead's: kube-proxy does not start without a Node object. */
  readonly variant: ProxyVariant;
  readonly settings?: ProxySettings;
  /** More of the block `fairlead`; `nodeObject: none` is always in it. */
  readonly fairlead?: object;
}

/** The files of the agent on the machine. */
export interface OutsideFiles {
  readonly runFolder: string;
  readonly configFile: string;
}

export function outsideFiles(labFolder: string): OutsideFiles {
  const folder = join(labFolder, 'proxies', MACHINE);
  return { runFolder: join(folder, 'run'), configFile: join(folder, CONFIG_FILE) };
}

/** Starts Fairlead on the machine, without a Node object; resolves when both families are served. */
export async function startOutside(lab: Lab, start: OutsideStart): Promise<Daemon> {
  const { variant, settings = {}, fairlead = {} } = start;
  if (variant.servesSockets) await lab.makeSocketPlaces();
  return await startProxy({
    lab: lab.name,
    variant: withoutNode(variant, fairlead),
    nodeName: MACHINE,
    parts: lab.parts,
    credentials: lab.credentials,
    labFolder: lab.folder,
    logFolder: join(lab.folder, 'logs'),
    settings,
    sockets: lab.socketPlace(MACHINE),
  });
}

/** Changes the block `fairlead` of the file while the agent runs, which reads it again. */
export async function configureOutside({ configFile }: OutsideFiles, block: object): Promise<void> {
  const written = JSON.parse(await readFile(configFile, 'utf8')) as Configuration;
  const fairlead = { ...written.fairlead, ...block };
  await writeFile(configFile, JSON.stringify({ ...written, fairlead }));
}

const CONFIG_FILE = 'fairlead.json';

interface Configuration {
  readonly fairlead?: object;
}

/** The same program with the same file, and more in its block `fairlead`. */
function withoutNode(variant: ProxyVariant, more: object): ProxyVariant {
  return {
    ...variant,
    async prepare(place) {
      const command = await variant.prepare(place);
      const configFile = join(place.folder, CONFIG_FILE);
      const files = { configFile, runFolder: join(place.folder, 'run') };
      await configureOutside(files, { nodeObject: 'none', ...more });
      return command;
    },
  };
}
