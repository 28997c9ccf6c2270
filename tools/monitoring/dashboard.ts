import type { Panel, Row } from './panel.ts';

const WIDTH = 24;
const SIZES = { number: { w: 6, h: 4 }, lines: { w: 12, h: 8 } } as const;
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
const SCHEMA_VERSION = 39;

interface Position {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** The JSON that Grafana imports. */
export function dashboardOf(rows: readonly Row[]): object {
  return {
    uid: 'fairlead',
    title: 'Fairlead',
    description: 'Made by `npm run monitoring` from tools/monitoring/panels.ts',
    tags: ['fairlead', 'kubernetes'],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: variables() },
    panels: panelsOf(rows),
  };
}

function variables(): object[] {
  return [
    { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
    {
      name: 'instance',
      type: 'query',
      label: 'Node',
      datasource: DATASOURCE,
      query: { query: 'label_values(fairlead_build_info, instance)', refId: 'instance' },
      includeAll: true,
      allValue: '.*',
      multi: true,
      current: { text: 'All', value: '$__all' },
      refresh: 2,
      sort: 1,
    },
  ];
}

/** From left to right; a row begins below everything above it. */
function panelsOf(rows: readonly Row[]): object[] {
  const placed: object[] = [];
  let top = 0;
  for (const { title, panels } of rows) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y: top, w: WIDTH, h: 1 },
      panels: [],
    });
    let at = { x: 0, y: top + 1 };
    let height = 0;
    for (const panel of panels) {
      const { w, h } = SIZES[panel.form];
      if (at.x + w > WIDTH) at = { x: 0, y: at.y + height };
      placed.push(panelJson(panel, { id: placed.length + 1, position: { ...at, w, h } }));
      at = { ...at, x: at.x + w };
      height = h;
    }
    top = at.y + height;
  }
  return placed;
}

function panelJson(panel: Panel, of: { readonly id: number; readonly position: Position }): object {
  const isNumber = panel.form === 'number';
  const steps = [
    { color: 'green', value: null },
    ...(panel.badFrom === undefined ? [] : [{ color: 'red', value: panel.badFrom }]),
  ];
  return {
    id: of.id,
    type: isNumber ? 'stat' : 'timeseries',
    title: panel.title,
    description: panel.about,
    datasource: DATASOURCE,
    gridPos: of.position,
    fieldConfig: {
      defaults: {
        unit: panel.unit,
        min: 0,
        ...(isNumber ? { thresholds: { mode: 'absolute', steps } } : {}),
      },
      overrides: [],
    },
    options: isNumber
      ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value', graphMode: 'area' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: panel.queries.map(({ expression, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr: expression,
      legendFormat: legend,
      range: !isNumber,
      instant: isNumber,
    })),
  };
}
