import { type AskedCase, predictionFor } from '../../explain/explain.ts';
import type { Remark } from '../../explain/explanation.ts';
import { goalOf, portsOf, type Target } from '../../explain/target.ts';
import type { AskedEndpoint } from '../../explain/why-not.ts';
import type { Prediction } from '../../forwarding/answer/prediction.ts';
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
  /** Objects around a Service may be read to say why something is missing; undefined: not. */
  readonly around?: { readonly context?: string | undefined };
}

/** The connection that is asked about, and what the rows say of it. Throws CommandError. */
export function caseOf(
  inquiry: Inquiry,
  grounds: Grounds,
): {
  readonly asked: AskedCase;
  readonly prediction: Prediction;
  readonly remarks: readonly Remark[];
} {
  const { rows, place } = grounds;
  const { basis, text, from } = inquiry;
  const { to, at, remarks } = goalFor(inquiry, grounds);
  const asked: AskedCase = {
    target: text,
    to,
    ...(at === undefined ? {} : { at }),
    ...askedFrom(from, to, place),
    place,
    mode: basis.config.settings.mode,
  };
  return { asked, prediction: predictionFor(asked, rows), remarks };
}

type Goal = Pick<AskedCase, 'to' | 'at'> & { readonly remarks: readonly Remark[] };

function goalFor({ target, from, basis }: Inquiry, { rows }: Grounds): Goal {
  if (target.by === 'address') return { to: target.to, remarks: [] };
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
  const goal = goalOf(target, own, familyOfFrom(from));
  if (goal.is === 'no such port') {
    throw new CommandError(
      `Service ${target.service} has no port '${visible(target.port ?? '')}'`,
      {
        code: 'PORT_NOT_DECLARED',
        next: `its ports: ${goal.ports.join(', ')}`,
      },
    );
  }
  if (goal.is === 'undeclared') return { to: goal.to, remarks: [] };
  const others = target.port === undefined ? own.filter((row) => row !== goal.at.row) : [];
  const remarks = others.length === 0 ? [] : [{ topic: 'also', text: portsOf(others).join(', ') }];
  return { to: goal.to, at: goal.at, remarks };
}
