import type { Kind } from '../../../src/cluster/object-kinds.ts';
import type { Field, Shape } from '../../../src/cluster/wire/protobuf/message-shape.ts';
import { OBJECT_SHAPES } from '../../../src/cluster/wire/protobuf/shapes.ts';

const LARGEST_INTEGER = 2 ** 31 - 1;
/** As the API writes it; JSON may have other texts, protobuf only seconds. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Whether protobuf can have this object: every field that is decoded has its type. */
export function fits(kind: Kind, object: unknown): boolean {
  return fitsShape(object, OBJECT_SHAPES[kind]);
}

function fitsShape(value: unknown, { fields }: Shape): boolean {
  if (!isObject(value)) return false;
  return fields.every((field) => {
    if (field === undefined || !Object.hasOwn(value, field.name)) return true;
    const found = value[field.name];
    if (!field.isList) return fitsType(found, field.type);
    return Array.isArray(found) && found.every((item) => fitsType(item, field.type));
  });
}

function fitsType(value: unknown, type: Field['type']): boolean {
  switch (type.is) {
    case 'text':
      return isText(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LARGEST_INTEGER;
    case 'time':
      return isText(value) && TIME.test(value) && !Number.isNaN(Date.parse(value));
    case 'message':
      return fitsShape(value, type.shape);
    case 'texts':
      // A key of this name sets no field in the decoder.
      return (
        isObject(value) && !Object.hasOwn(value, '__proto__') && Object.values(value).every(isText)
      );
    case 'bytes':
      return false;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
