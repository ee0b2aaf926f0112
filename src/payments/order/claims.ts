// Workers claim due orders, notifications and refunds one at a time, each for a minute. A killed
// worker then delays one of them by at most a minute; had it claimed twenty at once, twenty payers
// would wait. A claim costs about 1 ms, the call to the provider that follows about 100 ms.

/** Longer than a call can take: 10 s in the limiter, 35 s for a post, and writing its outcome. */
export const LEASE_SECONDS = 60

/** Claims and processes up to `max` due items; returns how many. `work` handles its own errors. */
export async function processDue<T>(
  max: number,
  claim: () => Promise<T | undefined>,
  work: (due: T) => Promise<void>,
): Promise<number> {
  for (let done = 0; done < max; done++) {
    const due = await claim()
    if (due === undefined) return done
    await work(due)
  }
  return max
}
