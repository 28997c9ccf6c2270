import { printWarning } from '../../commands/terminal/print.ts';
import { ConfigError } from '../../config/errors.ts';
import { buildConfig } from '../../config/load.ts';
import type { EbpfSettings } from '../../config/settings.ts';
import { DEFAULT_EBPF } from '../../config/settings.ts';
import { textOf } from './files.ts';
import { below, CONFIG_FILE } from './paths.ts';

/**
 * Where the agent has put its eBPF maps and programs, by its configuration. The usual places if there
 * is none, or one that no agent could have started with.
 */
export async function ebpfPlaces(root: string): Promise<EbpfSettings> {
  const path = below(root, CONFIG_FILE);
  const text = await textOf(path);
  if (text === undefined) return DEFAULT_EBPF;
  try {
    return buildConfig(new Map(), { path, text }).settings.ebpf;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    printWarning(
      `${path} is invalid: eBPF maps are removed from ${DEFAULT_EBPF.pinFolder}; for another place: fairlead cleanup --pin-folder`,
    );
    return DEFAULT_EBPF;
  }
}
