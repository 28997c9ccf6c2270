import { formatTable } from '../../lab/host/table.ts';

/** How long the corpus took on one proxy, lab and restarts included. */
export interface RunTime {
  readonly proxy: string;
  readonly scenarios: number;
  readonly milliseconds: number;
}

export function timesTable(times: readonly RunTime[]): string {
  return formatTable([['PROXY', 'SCENARIOS', 'TIME'], ...times.map(cells)]);
}

export function timesMarkdown(times: readonly RunTime[]): string {
  const rows = times.map((time) => `| ${cells(time).join(' | ')} |`);
  return ['| proxy | scenarios | time |', '|---|---|---|', ...rows].join('\n');
}

function cells(time: RunTime): string[] {
  const seconds = Math.round(time.milliseconds / 1000);
  const text = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return [time.proxy, `${time.scenarios}`, text];
}
