import { s } from './dom.ts';

/** Kinds by the side of the Services that they are on. */
const LEFT = ['pod', 'host', 'outside', 'unknown'];
const RIGHT = ['here', 'node', 'others', 'unplaced'];

/** Gradients, and patterns for what is rejected and dropped: told apart without colours too. */
export function ropeDefinitions(): SVGElement {
  const gradients = ['', '-selected'].flatMap((variant) => [
    ...LEFT.map((kind) => gradient(`${kind}${variant}`, [kind, `mid${variant}`])),
    ...RIGHT.map((kind) => gradient(`${kind}${variant}`, [`mid${variant}`, kind])),
    hatch(`rejected${variant}`, 'rejected'),
    dotted(`dropped${variant}`, 'dropped'),
  ]);
  return s('defs', {}, ...gradients);
}

function gradient(id: string, [from, to]: readonly [string, string]): SVGElement {
  return s(
    'linearGradient',
    { at: { id: `rope-${id}`, x1: 0, x2: 1 } },
    s('stop', { class: `stop-${from}`, at: { offset: 0 } }),
    s('stop', { class: `stop-${to}`, at: { offset: 1 } }),
  );
}

function hatch(id: string, kind: string): SVGElement {
  return s(
    'pattern',
    {
      at: {
        id: `rope-${id}`,
        width: 7,
        height: 7,
        patternUnits: 'userSpaceOnUse',
        patternTransform: 'rotate(45)',
      },
    },
    s('rect', { class: `rope-fill ${kind}`, at: { width: 7, height: 7 } }),
    s('rect', { class: `rope-mark ${kind}`, at: { width: 2.5, height: 7 } }),
  );
}

function dotted(id: string, kind: string): SVGElement {
  return s(
    'pattern',
    { at: { id: `rope-${id}`, width: 6, height: 6, patternUnits: 'userSpaceOnUse' } },
    s('rect', { class: `rope-fill ${kind}`, at: { width: 6, height: 6 } }),
    s('circle', { class: `rope-mark ${kind}`, at: { cx: 3, cy: 3, r: 1.4 } }),
  );
}
