/** Of the text format, version 0.0.4, which is all that Prometheus and its relatives need. */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** The two lines before the samples of a metric. */
export function headText(name: string, type: MetricType, help: string): string {
  const oneLine = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${oneLine}\n# TYPE ${name} ${type}\n`;
}

/** `a="x",b="y"`: without braces, so that a histogram can add its own. */
export function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`).join(',');
}

export function sampleText(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${numberText(value)}\n`;
}

/** The upper bound of a bucket is a label, and a number as in a sample. */
export function boundText(bound: number, labels: string): string {
  return `le="${numberText(bound)}"${labels === '' ? '' : `,${labels}`}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
