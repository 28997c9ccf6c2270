import type {
  NamespaceObject,
  NodeObject,
  ServiceCidrObject,
  ServiceObject,
  SliceObject,
} from './objects.ts';

/** The watched kinds, by short names. */
export interface ObjectOfKind {
  readonly service: ServiceObject;
  readonly slice: SliceObject;
  readonly node: NodeObject;
  readonly serviceCidr: ServiceCidrObject;
  readonly namespace: NamespaceObject;
}

export type Kind = keyof ObjectOfKind;

/** `namespace/name`, or the name alone for what has no namespace. */
export type ObjectKey = string;
