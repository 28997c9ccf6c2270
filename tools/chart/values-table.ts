import type { ChartValue } from './values.ts';

/** The table of README.md. */
export function valuesTable(values: readonly ChartValue[]): string {
  const rows = values.map(
    ({ path, default: preset, about }) =>
      `| \`${path}\` | \`${JSON.stringify(preset)}\` | ${about.replaceAll('|', '\\|')} |`,
  );
  return ['| value | default | meaning |', '|---|---|---|', ...rows].join('\n');
}
