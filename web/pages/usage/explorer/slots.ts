// Which colour and pattern a series of the chart has. A slot is a number: its colour is one of ten,
// its pattern one of six. A model keeps its slot in every period, because the slot depends on the
// order of the catalogue and not on how much was spent.

export const COLOURS = 10
export const PATTERNS = 6
/** The series that joins what has no series of its own; its colour is grey. */
export const REST_SLOT = -1

/** The slot of each key: its place in `order`; a key that is not there gets one by its name. */
export function slotsOf(
  keys: readonly string[],
  order: readonly string[],
): ReadonlyMap<string, number> {
  const places = new Map(order.map((key, place) => [key, place]))
  const known = keys.filter((key) => places.has(key))
  const slots = new Map(known.map((key) => [key, places.get(key) ?? 0]))
  const taken = new Set([...slots.values()].map((slot) => slot % COLOURS))
  // In the order of names, so that the same keys always get the same slots.
  for (const key of keys.filter((one) => !places.has(one)).toSorted()) {
    let slot = hashOf(key) % COLOURS
    while (taken.size < COLOURS && taken.has(slot)) slot = (slot + 1) % COLOURS
    taken.add(slot)
    slots.set(key, slot)
  }
  return slots
}

export function colourOf(slot: number): number {
  return slot % COLOURS
}

/** The models 1 and 11 of a catalogue have the same colour, and different patterns. */
export function patternOf(slot: number): number {
  return (slot + Math.floor(slot / COLOURS)) % PATTERNS
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash >>> 0
}
