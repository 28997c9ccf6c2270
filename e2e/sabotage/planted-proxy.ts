import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProxyContext, RealProxy } from '../../lab/real/proxies/contract.ts';
import { bundleFairlead, makeFairleadArchive } from '../../lab/real/proxies/fairlead.ts';
import { plant, type Sabotage } from './catalogue.ts';

/** The same proxy with a fault in the program of its image, and with nothing else changed. */
export function plantedProxy(proxy: RealProxy, sabotage: Sabotage): RealProxy {
  return {
    ...proxy,
    name: `${proxy.name}-${sabotage.name}`,
    description: `${proxy.description}, sabotaged: ${sabotage.title}`,
    provideArchive: (context) => plantedArchive(context, sabotage),
  };
}

async function plantedArchive(context: ProxyContext, sabotage: Sabotage): Promise<string> {
  const file = join(context.folder, 'sabotaged.mjs');
  await bundleFairlead(file, context.signal);
  await writeFile(file, plant(await readFile(file, 'utf8'), sabotage));
  return await makeFairleadArchive(context, { program: file });
}
