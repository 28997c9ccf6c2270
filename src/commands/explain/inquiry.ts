import { type AskedCase, predictionFor } from '../../explain/explain.ts';
import { goalsOf, type Target } from '../../explain/target.ts';
import type { AskedEndpoint } from '../../explain/why-not.ts';
import type { Surroundings } from '../../explain/zero/surroundings.ts';
import type { Place } from '../../forwarding/answer/place.ts';
import type { Prediction } from '../../forwarding/answer/prediction.ts';
import type { Forwarding, SourceClass } from '../../forwarding/model.ts';
import type { Basis } from '../basis/basis.ts';
import { CommandError } from '../command-error.ts';
import { visible } from '../terminal/visible.ts';
import { askedFrom, type From, familyOfFrom } from './from.ts';
import type { Grounds } from './grounds.ts';
import type { WantedProbe } from './proof/probe-kind.ts';

/** A question whose pods were found. */
export interface Inquiry {
  readonly basis: Basis;
  readonly text: string;
  readonly target: Target;
  readonly from: From;
  readonly whyNot?: AskedEndpoint;
  readonly probe: WantedProbe;
  /** `--at`: of the addresses of a Service, only this one. */
  readonly at?: string | undefined;
  /** `--size`: bytes that are sent when a connection is open. */
  readonly size?: number | undefined;
  /** `--each`: the endpoints one by one. Undefined: where the first packet calls for it. */
  readonly each?: true | undefined;
  /** Objects around a Service may be read to say why something is missing; undefined: not. */
  readonly around?: {
    readonly context?: string | undefined;
    /** By `namespace/name`, what was read: the rows of a Service lack the same. */
    readonly found: Map<string, Promise<Surroundings>>;
  };
}

/** A connection that is asked about, and what the rows say of it. */
export interface PredictedCase {
  readonly asked: AskedCase;
  readonly prediction: Prediction;
}

/** Every connection that is asked about, in the order of the rows. Throws CommandError. */
export function casesOf(
  inquiry: Inquiry,
  grounds: Grounds,
): readonly [PredictedCase, ...PredictedCase[]] {
  const { rows, place } = grounds;
  const { basis, text, from } = inquiry;
  const cases = goalsFor(inquiry, grounds).map(({ to, at }) => {
    const asked: AskedCase = {
      target: text,
      to,
      ...(at === undefined ? {} : { at }),
      ...askedFrom(from, to, place),
      place,
      mode: basis.config.settings.mode,
    };
    return { asked, prediction: predictionFor(asked, rows) };
  });
  const [first, ...others] = cases;
  if (first === undefined) throw new RangeError('a name stands for no address');
  return [first, ...others];
}

type Goal = Pick<AskedCase, 'to' | 'at'>;

function goalsFor({ target, from, basis, at }: Inquiry, { rows, place }: Grounds): readonly Goal[] {
  if (target.by === 'address') return [{ to: target.to }];
  const own = rows.filter(({ id }) => `${id.namespace}/${id.service}` === target.service);
  const outside = basis.config.settings.scope ? ', is outside of fairlead.scope' : '';
  if (own.length === 0) {
    throw new CommandError(
      `Service ${visible(target.service)} does not exist${outside}, or proxies do not serve it`,
      {
        code: 'SERVICE_NOT_FOUND',
        next: 'run `fairlead services` to list all; proxies do not serve headless and ExternalName Services',
      },
    );
  }
  const goals = goalsOf(target, own, {
    class: classOf(from, own, place),
    family: familyOfFrom(from),
    nodeIPs: place.view.nodeIPs,
    at,
  });
  if (goals.is === 'frontends') return goals.goals;
  if (goals.is === 'undeclared') return [{ to: goals.to }];
  const what = [
    ...(target.port === undefined ? [] : [`port '${visible(target.port)}'`]),
    ...(at === undefined ? [] : [`address '${visible(at)}'`]),
  ];
  throw new CommandError(`Service ${target.service} has no ${what.join(' at ') || 'address'}`, {
    code: 'PORT_NOT_DECLARED',
    next: `its ports: ${goals.ports.join(', ')}`,
  });
}

/** Whether the client is outside shows at any address of its family. */
function classOf(from: From, rows: readonly Forwarding[], place: Place): SourceClass {
  if (from.by === 'class') return from.class;
  const family = familyOfFrom(from);
  const row = rows.find(({ id }) => family === undefined || id.family === family) ?? rows[0];
  const [first] = row?.frontends ?? [];
  if (row === undefined || first === undefined) return 'pod';
  const to = { address: first.address, port: first.port, protocol: row.id.protocol };
  return askedFrom(from, to, place).source.class;
}
