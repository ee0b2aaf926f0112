// Steps of a recovery for tests: the clock of the database cannot be set, so a test moves a waiting
// recovery into the past, as the owner of the database and without its triggers.
import type { Db } from '../../src/platform/db/db.ts'

/** The recovery of an account was opened `hours` earlier; its first warnings have left since. */
export async function ageRecovery(
  db: Db,
  email: string,
  hours: number,
  options: { readonly areWarningsSent?: boolean } = {},
): Promise<void> {
  const { areWarningsSent = true } = options
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    const { rows } = await tx.query(
      `update account_recoveries r set begun_at = begun_at - make_interval(hours => $2),
         opened_at = opened_at - make_interval(hours => $2),
         ripe_at = ripe_at - make_interval(hours => $2),
         ends_at = ends_at - make_interval(hours => $2),
         done_at = done_at - make_interval(hours => $2)
       from accounts a where a.id = r.account_id and a.email = $1 and r.stopped_at is null
       returning r.id`,
      [email, hours],
    )
    for (const { id } of rows as { id: string }[]) {
      await tx.query(
        `update account_recovery_warnings set posted_at = posted_at - make_interval(hours => $2)
         where recovery_id = $1`,
        [id, hours],
      )
      if (!areWarningsSent) continue
      await tx.query(
        `update letters set state = 'sent', body_text = null, body_html = null,
           posted_at = posted_at - make_interval(hours => $2),
           ended_at = coalesce(ended_at, clock_timestamp()) - make_interval(hours => $2)
         where kind = 'recovery-opened' and once like $1 || ' %'`,
        [id, hours],
      )
    }
  })
}
