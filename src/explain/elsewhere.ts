import type { Destination, Found } from '../forwarding/answer/destination.ts';
import type { Place } from '../forwarding/answer/place.ts';
import { predictAt } from '../forwarding/answer/predict.ts';
import type { Prediction } from '../forwarding/answer/prediction.ts';
import { familyOf, type Source, sourceOfClass } from '../forwarding/answer/source.ts';
import { SOURCE_CLASSES } from '../forwarding/model.ts';
import type { Elsewhere } from './explanation.ts';
import { goalText } from './predicted-sentence.ts';
import { CLASS_NAME, frontendName } from './words.ts';

/** Addresses of a Service that are shown; it can have hundreds. */
const MOST_FRONTENDS = 5;

/**
 * The same connection from the other source classes, and from the same source at the other
 * addresses of the row.
 */
export function elsewhereOf(
  { row, frontend }: Found,
  {
    source,
    to,
    place,
  }: { readonly source: Source; readonly to: Destination; readonly place: Place },
): readonly Elsewhere[] {
  const family = familyOf(to.address);
  const fromOthers = SOURCE_CLASSES.filter((each) => each !== source.class).map((each) => {
    const other = sourceOfClass(each, family, place);
    const prediction = predictAt({ source: other }, { row, frontend }, place);
    return elsewhere(`from ${CLASS_NAME[each]}`, prediction, { source: other, place });
  });
  const others = row.frontends.filter((each) => each !== frontend).slice(0, MOST_FRONTENDS);
  const atOthers = others.map((each) => {
    const prediction = predictAt({ source }, { row, frontend: each }, place);
    const where = `at ${frontendName(each, row.id.protocol)}`;
    return elsewhere(where, prediction, { source, place });
  });
  return [...fromOthers, ...atOthers];
}

interface Asked {
  readonly source: Source;
  readonly place: Place;
}

function elsewhere(where: string, prediction: Prediction, asked: Asked): Elsewhere {
  return { where, code: prediction.code, more: moreOf(prediction, asked) };
}

function moreOf(prediction: Prediction, { source, place }: Asked): string {
  const { address } = source;
  if (prediction.code === 'REACHES') {
    const { allowedSources } = prediction.frontend;
    const isBySocket = place.madeBy?.(prediction, source.class) === 'socket';
    const isOpen = allowedSources === undefined || address !== undefined;
    return [
      goalText(prediction),
      ...(prediction.masquerade && !isBySocket ? ['masqueraded'] : []),
      ...(isOpen ? [] : [`if its address is in ${allowedSources.join(', ')}`]),
    ].join(', ');
  }
  if (prediction.code !== 'DROPPED_SOURCE_RANGE') return '';
  return `only from ${prediction.allowedSources.join(', ') || 'no address'}`;
}
