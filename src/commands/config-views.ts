import type { FieldRow } from '../config/fields/field-row.ts';
import { FIELD_PATHS, FIELDS, type FieldPath } from '../config/fields/field-table.ts';
import { formatOrigin } from '../config/layers.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { isReadIn } from '../config/validate.ts';
import { writtenValue } from '../config/write.ts';
import { colours } from './terminal/colour.ts';
import { formatTextTable } from './text-table.ts';

/** A table of the fields in use: value and origin. */
export function configTable(config: LoadedConfig): string {
  const rows = FIELD_PATHS.filter((path) => isWorthShowing(path, config)).map((path) => [
    path,
    formatValue(writtenValue(path, config.fields[path].value)),
    formatOrigin(config.fields[path].origin),
    remark(path, config),
  ]);
  const { serverUrl } = config.settings.api;
  if (serverUrl !== undefined) rows.push(['(API server)', serverUrl, '--master', '']);
  if (config.settings.healthServer === undefined) {
    rows.push(['(health server)', 'off', '--healthz-port', '']);
  }
  return formatTextTable([['FIELD', 'VALUE', 'FROM', 'REMARK'].map(bold), ...rows]);
}

function bold(text: string): string {
  return colours(process.stdout, process.env).bold(text);
}

/** JSON: resolved settings, and fields by their names in the file. */
export function configData(config: LoadedConfig): object {
  const fields = Object.fromEntries(
    FIELD_PATHS.map((path) => {
      const { value, origin } = config.fields[path];
      return [path, { value: writtenValue(path, value), origin }];
    }),
  );
  const { settings, warnings } = config;
  return { settings, fields, warnings };
}

/** The table of docs/configuration.md, which a test compares with this. */
export function configReference(): string {
  const head = ['field', 'what it does', "kube-proxy's default", 'ours', 'changes'];
  const rows = FIELD_PATHS.map((path) => referenceRow(path, FIELDS[path]));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function referenceRow(path: FieldPath, row: FieldRow): readonly string[] {
  const own = code(path, row.ownDefault ?? row.kubeProxyDefault);
  const about = sentences([
    row.about,
    row.choices === undefined ? '' : `One of: ${row.choices.join(', ')}`,
    row.modes === undefined ? '' : `Read in ${row.modes.join(', ')}`,
    row.noEffect === undefined ? '' : `**No effect.** ${row.noEffect}`,
  ]);
  const change = row.noEffect === undefined ? row.change : '';
  if (path.startsWith('fairlead.')) {
    const ours = [own, row.defaultFollows ?? ''].filter((part) => part !== '').join('; ');
    return [`\`${path}\``, about, 'no such field', ours, change];
  }
  const theirs = [code(path, row.kubeProxyDefault), row.defaultFollows ?? ''];
  const ours = sentences([row.ownDefault === undefined ? 'the same' : own, row.why ?? '']);
  return [`\`${path}\``, about, theirs.filter((part) => part !== '').join('; '), ours, change];
}

function sentences(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== '')
    .map((part) => part.replace(/\.$/, ''))
    .join('. ');
}

function isWorthShowing(path: FieldPath, { fields, settings }: LoadedConfig): boolean {
  const row = FIELDS[path];
  if (fields[path].origin.from === 'flag') return true;
  return row.noEffect === undefined && isReadIn(settings.mode, row);
}

const EMPTY_MEANS: Partial<Record<FieldPath, string>> = {
  'fairlead.clients': "only this machine's own sockets",
  'fairlead.servedAddresses': 'only ClusterIPs and node ports',
  'fairlead.serviceRanges': 'from ServiceCIDR objects',
};

function remark(path: FieldPath, { fields, settings }: LoadedConfig): string {
  const row = FIELDS[path];
  if (row.noEffect !== undefined) return 'no effect';
  if (!isReadIn(settings.mode, row)) return `not read in mode ${settings.mode}`;
  if (path === 'nodePortAddresses' && settings.nodePorts.addresses === 'none')
    return 'no node ports';
  if (path === 'fairlead.serviceRanges' && !settings.servedAddresses.allClusterIPs)
    return settings.serviceRanges.length === 0 ? 'no ClusterIP is served' : '';
  const value = fields[path].value;
  if (path in EMPTY_MEANS && Array.isArray(value) && value.length === 0)
    return EMPTY_MEANS[path] ?? '';
  const isOwnDefault = row.ownDefault !== undefined && fields[path].origin.from === 'default';
  return isOwnDefault
    ? `differs from kube-proxy: ${formatValue(writtenValue(path, row.kubeProxyDefault))}`
    : '';
}

function code(path: FieldPath, value: Parameters<typeof writtenValue>[1]): string {
  const text = formatValue(writtenValue(path, value));
  return text === '' ? 'empty' : `\`${text}\``;
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(formatValue).join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, inner]) => `${name}=${String(inner)}`)
    .join(', ');
}
