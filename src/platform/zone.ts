// Time zones by name, such as Europe/Moscow, as far as this version of Node knows them.

/** A time zone that exists, or UTC. */
export function zoneOf(name: string | undefined): string {
  if (name === undefined || !/^[A-Za-z][\w+-]*(?:\/[\w+-]+){0,2}$/.test(name)) return 'UTC'
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch (error) {
    if (error instanceof RangeError) return 'UTC'
    throw error
  }
}

/** Whether there is such a zone. UTC is one, by whatever name. */
export function isZone(name: string): boolean {
  return zoneOf(name) !== 'UTC' || /^(?:Etc\/)?(?:UTC|GMT)$/.test(name)
}
