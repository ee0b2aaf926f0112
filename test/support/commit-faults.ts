// Makes commits slow or failing: a deferred trigger on books runs at the commit, when PostgreSQL
// has already executed the statement and returned its row. It reads its table as the owner, whoever
// commits.
import type { Executor } from '../../src/platform/db/db.ts'

export type CommitFaults = {
  /** Applies to every later commit that changes a book. */
  set(how: 'quick' | 'slow' | 'failing'): Promise<void>
}

/** How long a slow commit takes. */
export const SLOW_COMMIT_MS = 400

export async function installCommitFaults(db: Executor): Promise<CommitFaults> {
  await db.query(`
    create table commits (how text not null);
    insert into commits values ('quick');
    create function commits_are() returns trigger language plpgsql security definer as $$
    declare
      v_how text := (select how from commits);
    begin
      if v_how = 'slow' then
        perform pg_sleep(${SLOW_COMMIT_MS / 1_000});
      elsif v_how = 'failing' then
        raise exception 'no commit today' using errcode = 'TG999';
      end if;
      return null;
    end $$;
    create constraint trigger commits_are after update on books
      deferrable initially deferred for each row execute function commits_are()`)
  return {
    async set(how) {
      await db.query('update commits set how = $1', [how])
    },
  }
}
