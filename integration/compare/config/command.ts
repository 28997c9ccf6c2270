import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { terminalProgress } from '../../../lab/host/progress.ts';
import { KUBERNETES_VERSION, provideTool } from '../../../lab/parts/build.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { buildConfig, type LoadedConfig } from '../../../src/config/load-config.ts';
import { differentFields } from '../../../src/config/testing/different-fields.ts';
import { DEPARTURES } from './departures.ts';
import { smallFiles } from './files.ts';
import { askKubeProxy, type Verdict } from './kube-proxy.ts';

const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

/** kube-proxy leaves the scheduler empty and takes rr later. */
const NEVER_COMPARED = ['ipvs.scheduler'];

export const command = new Command()
  .option('--only <text>', 'only files that contain it', '')
  .action(async ({ only }: { readonly only: string }) => {
    const program = await provideTool('kube-proxy', { progress: terminalProgress() });
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-config-'));
    try {
      const asking = { program, folder };
      await compareAll(
        smallFiles().filter((body) => body.includes(only)),
        asking,
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

async function compareAll(
  bodies: readonly string[],
  asking: { readonly program: string; readonly folder: string },
): Promise<void> {
  let equalCount = 0;
  let departureCount = 0;
  for (const body of bodies) {
    const finding = compare(body, await askKubeProxy(HEAD + body, asking));
    const expected = DEPARTURES[body]?.finding ?? 'equal';
    if (finding === expected) {
      if (finding === 'equal') equalCount++;
      else departureCount++;
      continue;
    }
    process.exitCode = 1;
    console.log(`${JSON.stringify(body)}: ${finding}; expected: ${expected}`);
  }
  console.log(
    `${bodies.length} files: ${equalCount} as kube-proxy ${KUBERNETES_VERSION}, ${departureCount} differ on purpose`,
  );
}

/** In words, for the table of departures. */
function compare(body: string, theirs: Verdict): string {
  const ours = read(body);
  if (theirs === 'rejected') return ours === undefined ? 'equal' : 'only kube-proxy rejects';
  if (ours === undefined) return 'only Fairlead rejects';
  const fields = differentFields(ours, theirs.written).filter(
    (path) => !NEVER_COMPARED.includes(path),
  );
  return fields.length === 0 ? 'equal' : `differs in ${fields.join(', ')}`;
}

function read(body: string): LoadedConfig | undefined {
  try {
    return buildConfig(new Map(), { path: 'given.yaml', text: HEAD + body });
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
