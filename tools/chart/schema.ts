import type { ChartValue } from './values.ts';

interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Record<string, object>;
  readonly additionalProperties: boolean;
}

/** Draft 7: the newest that every Helm 3 and Helm 4 reads. */
const DRAFT = 'http://json-schema.org/draft-07/schema#';

/** values.schema.json: no key but those of the values is accepted. */
export function schemaText(values: readonly ChartValue[]): string {
  const root = emptyObject();
  for (const value of values) {
    const keys = value.path.split('.');
    const last = keys.pop() ?? '';
    let parent = root;
    for (const key of keys) parent = childOf(parent, key);
    const { default: preset, about } = value;
    parent.properties[last] = { description: about, default: preset, ...value.schema };
  }
  root.properties['global'] = { type: 'object', description: 'of a chart that contains this one' };
  const schema = { $schema: DRAFT, title: 'Values of Fairlead', ...root, ...hostUnlessLeftovers() };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Removing what a proxy left needs no API server. */
function hostUnlessLeftovers(): object {
  const having = (key: string, schema: object): object => ({ properties: { [key]: schema } });
  return {
    if: having('leftovers', having('of', { const: '' })),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
    then: having('apiServer', having('host', { minLength: 1 })),
  };
}

function emptyObject(): ObjectSchema {
  return { type: 'object', properties: {}, additionalProperties: false };
}

function childOf(parent: ObjectSchema, key: string): ObjectSchema {
  parent.properties[key] ??= emptyObject();
  return parent.properties[key] as ObjectSchema;
}
