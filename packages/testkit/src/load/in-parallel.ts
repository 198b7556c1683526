/** Works through items, a fixed number at a time. */
export async function inParallel<Item>(
  items: Iterable<Item>,
  width: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const work = async () => {
    for (let next = iterator.next(); !next.done; next = iterator.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: width }, work));
}
