import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { schemaText } from './schema.ts';
import { type ConfigSchema, chartValues } from './values.ts';
import { valuesText } from './values-file.ts';
import { valuesTable } from './values-table.ts';

export const CHART = 'deploy/chart/fairlead';
const README = 'deploy/chart/README.md';
const BEGIN = '<!-- values:begin -->';
const END = '<!-- values:end -->';

/** Files of the chart that are made of something else: text by path below the checkout. */
export async function generatedFiles(
  root: string,
  config: ConfigSchema,
): Promise<ReadonlyMap<string, string>> {
  const text = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
  const values = chartValues(config);
  const { version } = JSON.parse(await text('package.json')) as { version: string };
  const chart = `${CHART}/Chart.yaml`;
  return new Map([
    [chart, withVersion(await text(chart), version)],
    [`${CHART}/values.yaml`, valuesText(values)],
    [`${CHART}/values.schema.json`, schemaText(values)],
    [README, withTable(await text(README), valuesTable(values))],
  ]);
}

/** A chart is released with the program, under the same version. */
function withVersion(chart: string, version: string): string {
  return chart.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`);
}

function withTable(page: string, table: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${README} has no lines ${BEGIN} and ${END}`);
  return `${page.slice(0, from + BEGIN.length)}\n${table}\n${page.slice(to)}`;
}
