/** The elements in groups of at most so many. */
export function* inGroups<T>(elements: Iterable<T>, size: number): Generator<T[]> {
  let group: T[] = [];
  for (const element of elements) {
    group.push(element);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
