// How a worker takes what is due: one thing at a time, for a minute. A worker that is killed then
// leaves one order, notice or refund waiting for its minute to pass. Twenty taken at once would all
// wait, and payers with them; a claim for each costs a millisecond beside a call of a hundred.

/** Longer than a call may take: its turn of 10 s, a post of 35 s, and writing its outcome. */
export const LEASE_SECONDS = 60

/** What is due now, at most so many; the number there was. Failures are the work's own affair. */
export async function oneByOne<T>(
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
