import type { FieldPath } from './fields/table.ts';
import type { GivenFlags } from './flags/read.ts';
import { buildConfig, type LoadedConfig } from './load.ts';
import { toGivenYaml } from './write.ts';

const MODE_FIELDS: ReadonlySet<FieldPath> = new Set(['mode', 'fairlead.mode']);

/**
 * A configuration with flags that win over it, other than beside `--config`, where kube-proxy lets
 * only a few of them count. Defaults that follow the mode follow the mode of the flags.
 */
export function overlaid({ fields, settings }: LoadedConfig, flags: GivenFlags): LoadedConfig {
  const { serverUrl } = settings.api;
  const all = new Map(flags);
  if (serverUrl !== undefined && !all.has('master')) all.set('master', [serverUrl]);
  const text = toGivenYaml(fields, all.has('proxy-mode') ? MODE_FIELDS : new Set());
  return buildConfig(all, { path: 'the configuration', text });
}
