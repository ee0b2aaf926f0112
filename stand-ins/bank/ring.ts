// A list that keeps only the newest entries.

export function createRing<Item>(max: number) {
  const items: Item[] = []
  return {
    add(item: Item): void {
      items.push(item)
      // Removes in blocks: shifting a long array for every entry would be quadratic.
      if (items.length > max) items.splice(0, Math.ceil(max / 10))
    },
    /** The newest that satisfy the check, oldest first. */
    last(count: number, check: (item: Item) => boolean = () => true): Item[] {
      const found: Item[] = []
      for (let at = items.length - 1; at >= 0 && found.length < count; at -= 1) {
        const item = items[at]
        if (item !== undefined && check(item)) found.push(item)
      }
      return found.reverse()
    },
    get size(): number {
      return items.length
    },
    clear(): void {
      items.length = 0
    },
  }
}

export type Ring<Item> = ReturnType<typeof createRing<Item>>
