// Those under way, in any order: added, removed and looked through, thousands of times a second. An
// array in which each knows its place, and not a Set: a Set lays out a new table every few hundred
// removals, and a table that has grown old and is thrown away keeps whatever it pointed to alive
// until the next great collection. With 256 requests under way that was a third of the collector's
// work: 8.9 ms a collection, 5.8 without.

/** `place` belongs to the roster; it starts as NOWHERE. */
export type Listed = { place: number }

export const NOWHERE = -1

export class Roster<T extends Listed> {
  private readonly all: T[] = []

  get size(): number {
    return this.all.length
  }

  add(one: T): void {
    one.place = this.all.push(one) - 1
  }

  has(one: T): boolean {
    return one.place !== NOWHERE
  }

  /** May be repeated. */
  remove(one: T): void {
    const { place } = one
    if (place === NOWHERE) return
    one.place = NOWHERE
    const last = this.all.pop() as T
    if (last === one) return
    this.all[place] = last
    last.place = place
  }

  /** As they are now; who looks through them may add and remove. */
  list(): T[] {
    return [...this.all]
  }
}
