import type { AskedEndpoint } from '../../../explain/why-not.ts';
import { whyAbsent } from '../../../explain/zero/absent-endpoint.ts';
import type { EmptyRow } from '../../../explain/zero/empty-row.ts';
import type { Surroundings } from '../../../explain/zero/surroundings.ts';
import { hasZero, type KnownRow, type Zeros, zerosOf } from '../../../explain/zero/zeros.ts';
import type { Prediction } from '../../../forwarding/answer/prediction.ts';
import { type Forwarding, type NodeView, servicePortKey } from '../../../forwarding/model.ts';
import type { Inquiry } from '../inquiry.ts';
import { nothingRead, podThereOf, surroundingsOf } from './surroundings-of.ts';

interface Asked {
  readonly prediction: Prediction;
  /** All rows of the Service. */
  readonly rows: readonly KnownRow[];
  readonly view: NodeView;
}

/** What is missing around a connection, and why. Objects are read only if something is. */
export async function zerosFor(inquiry: Inquiry, asked: Asked): Promise<Zeros> {
  const { prediction } = asked;
  if (!('row' in prediction)) return { remarks: [] };
  const isRead = hasZero(asked);
  return zerosOf(asked, isRead ? await around(inquiry, prediction.row) : nothingRead(''));
}

/** The endpoint of `--why-not`, with the reason why no slice has it, if none has. */
export async function withAbsence(
  inquiry: Inquiry,
  { prediction, rows }: Asked,
): Promise<AskedEndpoint | undefined> {
  const { whyNot, basis } = inquiry;
  if (whyNot === undefined || !('row' in prediction)) return whyNot;
  const { row } = prediction;
  const known = rows.find(
    ({ forwarding }) => servicePortKey(forwarding.id) === servicePortKey(row.id),
  );
  const { candidates = [], backing } = known ?? {};
  const { addresses, name } = whyNot;
  if (candidates.some(({ address }) => addresses.includes(address))) return whyNot;
  const [namespace, pod] = name.split('/');
  const isPod = namespace !== undefined && pod !== undefined;
  const service = `${row.id.namespace}/${row.id.service}`;
  const there =
    isPod && inquiry.around
      ? await podThereOf({ basis, ...inquiry.around, service }, name)
      : undefined;
  const empty: EmptyRow = { id: row.id, candidates, ...(backing === undefined ? {} : { backing }) };
  const asked = { addresses, ...(isPod && there ? { pod: { namespace, there } } : {}) };
  return { ...whyNot, absence: whyAbsent(asked, empty, await around(inquiry, row)) };
}

async function around(
  { basis, around: wanted }: Inquiry,
  { id, frontends }: Forwarding,
): Promise<Surroundings> {
  if (wanted === undefined) return nothingRead('');
  const service = `${id.namespace}/${id.service}`;
  const { context, found } = wanted;
  const clusterIP = frontends.find(({ kind }) => kind === 'cluster-ip')?.address;
  const known = found.get(service) ?? surroundingsOf({ basis, context, service, clusterIP });
  found.set(service, known);
  return await known;
}
