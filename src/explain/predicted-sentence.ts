import { familyOf, type Source } from '../forwarding/answer/connection-source.ts';
import type { Destination } from '../forwarding/answer/destination.ts';
import type { Place } from '../forwarding/answer/place.ts';
import type { Direct, Forwarded, LostAction, Prediction } from '../forwarding/answer/prediction.ts';
import { endpointKey } from '../forwarding/endpoints.ts';
import { type Forwarding, servicePortName } from '../forwarding/model.ts';
import { notServedText } from '../forwarding/not-served-text.ts';
import { countText, destinationName, serviceAt } from './explain-words.ts';

export interface SentenceContext {
  /** Who asks. */
  readonly subject: string;
  readonly to: Destination;
  readonly place: Place;
  readonly source?: Source;
}

const PASSES = 'no rule is for it, and the packet goes where the routes lead';
const REFUSED = 'the client is refused at once';
const DROPPED = 'dropped, and the client waits';
const LOST: Readonly<Record<LostAction, string>> = {
  reject: REFUSED,
  drop: DROPPED,
  pass: PASSES,
};

/** What happens, to whom and where, in one sentence. */
export function predictedSentence(prediction: Prediction, context: SentenceContext): string {
  const { subject, to, place } = context;
  switch (prediction.code) {
    case 'WOULD_REACH':
      return `${subject} would reach ${serviceAt(prediction.row, prediction.frontend)} at ${goalText(prediction)}${limitText(prediction, context)}`;
    case 'NOT_TRANSLATED':
      return `${subject} would reach ${directGoal(to, prediction)} directly: no rule translates its packets`;
    case 'REFUSED_NO_ENDPOINTS': {
      const what = `${serviceAt(prediction.row, prediction.frontend)} has no endpoint that could serve`;
      return prediction.action === 'reject' ? `${what}: ${REFUSED}` : `${what}: ${PASSES}`;
    }
    case 'REFUSED_NOT_A_NODE': {
      const what = `${serviceAt(prediction.row, prediction.frontend)} is for endpoints of the same node only, and this machine is not a node`;
      return prediction.action === 'reject' ? `${what}: ${REFUSED}` : `${what}: ${PASSES}`;
    }
    case 'DROPPED_NO_LOCAL_ENDPOINTS':
      return `${serviceAt(prediction.row, prediction.frontend)} is for endpoints on this node only, and there is none: ${DROPPED}`;
    case 'DROPPED_SOURCE_RANGE':
      return `${subject} may not connect to ${serviceAt(prediction.row, prediction.frontend)}: ${DROPPED}`;
    case 'NOT_SERVED':
      return `${serviceAt(prediction.row, prediction.frontend)} is not served on this node: ${notServedText(prediction.notServed)}`;
    case 'NOT_A_CLIENT':
      return `${subject} does not reach ${serviceAt(prediction.row, prediction.frontend)}: only connections of this machine itself are served`;
    case 'NODE_PORT_NOT_HERE':
      return `${destinationName(to)} is a node port of ${servicePortName(prediction.row.id)} and an address of this node, but node ports are served at ${nodePortAddresses(to, place)} only`;
    case 'PORT_NOT_DECLARED': {
      const what = `${namesOf(prediction.rows)} has ${to.address}, and not port ${to.port}/${to.protocol}`;
      return `${what}: ${LOST[prediction.action]}`;
    }
    case 'NO_SUCH_ADDRESS': {
      const { range } = prediction;
      const within = range === undefined ? '' : `, an address of the Service range ${range}`;
      const what = `no Service has ${destinationName(to)}${within}`;
      return `${what}: ${LOST[prediction.action]}`;
    }
  }
}

/** A client whose address is not known may be in a source range or not. */
function limitText({ frontend }: Forwarded, { source }: SentenceContext): string {
  const { allowedSources } = frontend;
  const isOpen = allowedSources === undefined || source?.address !== undefined;
  return isOpen ? '' : `, if its address is in ${allowedSources.join(', ')}`;
}

/** `10.1.0.2:8080, an endpoint of shop/web:http,`. */
export function directGoal(to: Destination, { endpointOf }: Direct): string {
  return `${destinationName(to)}, an endpoint of ${servicePortName(endpointOf.id)},`;
}

/** `endpoint`: the one that has answered. */
export function reachedSentence(
  prediction: Forwarded,
  endpoint: string,
  { subject }: Pick<SentenceContext, 'subject'>,
): string {
  const goal = goalText(prediction);
  const where = endpoint === goal ? goal : `${endpoint}, ${goal}`;
  return `${subject} reaches ${serviceAt(prediction.row, prediction.frontend)} at ${where}`;
}

/** `10.1.0.2:8080`, `one of 3 endpoints on this node`. */
export function goalText({ endpoints, list }: Forwarded): string {
  const [only] = endpoints;
  if (only !== undefined && endpoints.length === 1) return endpointKey(only);
  const where = list === 'local' ? ' on this node' : '';
  return `one of ${countText(endpoints.length, 'endpoint')}${where}`;
}

export function nodePortAddresses({ address }: Destination, { facts }: Place): string {
  const served = facts.nodePortAddresses[familyOf(address)];
  if (served === 'all') return 'its addresses other than loopback';
  return served.length === 0 ? 'no address' : served.join(', ');
}

/** Each Service once. */
function namesOf(rows: readonly Forwarding[]): string {
  const names = new Set(rows.map(({ id }) => `${id.namespace}/${id.service}`));
  return [...names].join(', ');
}
