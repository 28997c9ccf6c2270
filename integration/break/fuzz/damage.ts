import fc from 'fast-check';
import { HUGE_TEXT, MEANINGFUL, NAMES_OF_PROTOTYPES, ODD_VALUES } from './odd-values.ts';

/** What is done to one place of an object. Places are numbers, taken modulo how many there are. */
export type Damage =
  | { readonly how: 'drop' | 'null' | 'twice' | 'many' | 'huge'; readonly at: number }
  | { readonly how: 'set'; readonly at: number; readonly value: unknown }
  | { readonly how: 'vary'; readonly at: number; readonly choice: number }
  | { readonly how: 'swap'; readonly at: number; readonly other: number }
  | { readonly how: 'pollute'; readonly at: number; readonly key: string };

const MANY = 300;

export function damages(): fc.Arbitrary<Damage> {
  const at = fc.nat(10_000);
  const of = <T extends Damage['how']>(...hows: T[]): fc.Arbitrary<{ how: T; at: number }> =>
    fc.record({ how: fc.constantFrom(...hows), at });
  const value = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...ODD_VALUES) },
    { weight: 2, arbitrary: fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended()) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  );
  return fc.oneof(
    { weight: 100, arbitrary: fc.record({ how: fc.constant('vary'), at, choice: fc.nat(100) }) },
    { weight: 80, arbitrary: of('drop', 'null') },
    { weight: 60, arbitrary: fc.record({ how: fc.constant('set'), at, value }) },
    { weight: 20, arbitrary: of('twice') },
    { weight: 10, arbitrary: fc.record({ how: fc.constant('swap'), at, other: fc.nat(10_000) }) },
    { weight: 10, arbitrary: fc.record({ how: fc.constant('pollute'), at, key: polluting() }) },
    { weight: 2, arbitrary: of('many', 'huge') },
  ) as fc.Arbitrary<Damage>;
}

function polluting(): fc.Arbitrary<string> {
  return fc.constantFrom(...NAMES_OF_PROTOTYPES);
}

/** The object of a template after all that has been done to it. */
export function damaged(template: string, all: readonly Damage[]): unknown {
  const root = { value: JSON.parse(template) as unknown };
  for (const damage of all) apply(root, damage);
  return root.value;
}

/** A value by where it is kept. */
interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

function apply(root: { value: unknown }, damage: Damage): void {
  const places = placesIn(root);
  const place = at(damage.how === 'vary' ? likeOne(places, damage.at) : places, damage.at);
  if (place === undefined) return;
  const { parent, key } = place;
  switch (damage.how) {
    case 'drop':
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete parent[key];
      return;
    case 'null':
      parent[key] = null;
      return;
    case 'set':
      parent[key] = structuredClone(damage.value);
      return;
    case 'vary':
      parent[key] = structuredClone(at(MEANINGFUL[key] ?? [], damage.choice));
      return;
    case 'huge':
      // A different one each time, so that keeping them shows as a leak.
      parent[key] = `${damage.at}${HUGE_TEXT}`;
      return;
    case 'swap':
      swap(place, at(places, damage.other) ?? place);
      return;
    case 'pollute':
      pollute(parent[key], damage.key);
      return;
    default:
      repeat(parent[key], damage.how === 'many' ? MANY : 1);
  }
}

function placesIn(root: { value: unknown }): Place[] {
  const found: Place[] = [];
  const walk = (parent: Record<string, unknown>): void => {
    for (const key of Object.keys(parent)) {
      found.push({ parent, key });
      const value = parent[key];
      if (typeof value === 'object' && value !== null) walk(value as Record<string, unknown>);
    }
  };
  walk(root);
  return found;
}

/** All places of one name: a field that there is once is chosen as often as one of each endpoint. */
function likeOne(places: readonly Place[], index: number): Place[] {
  const names = [...new Set(places.map(({ key }) => key))];
  const chosen = at(
    names.filter((name) => Object.hasOwn(MEANINGFUL, name)),
    index,
  );
  return places.filter(({ key }) => key === chosen);
}

function at<T>(list: readonly T[], index: number): T | undefined {
  return list[index % list.length];
}

/** A part that would then hold itself is copied: JSON has no circles. */
function swap(one: Place, other: Place): void {
  const kept = structuredClone(one.parent[one.key]);
  one.parent[one.key] = structuredClone(other.parent[other.key]);
  other.parent[other.key] = kept;
}

/** As the parser of JSON does: the key becomes the object's own and its prototype stays. */
function pollute(value: unknown, key: string): void {
  // In JSON lists have no keys.
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const polluted = { polluted: true, name: 'polluted', port: 1 };
  Object.defineProperty(value, key, {
    value: polluted,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

function repeat(value: unknown, times: number): void {
  if (!Array.isArray(value) || value.length > MANY) return;
  const copy = [...value];
  for (let i = 0; i < times; i++) value.push(...structuredClone(copy));
}
