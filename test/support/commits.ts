// Commits that are slow, or fail at their very end: a trigger on books that waits for the commit.
// Until then a statement has done all it does, and its row has been sent.
import type { Executor } from '../../src/platform/db/db.ts'

export type Commits = {
  /** From now on, for every change of a book. */
  become(how: 'quick' | 'slow' | 'failing'): Promise<void>
}

/** A slow commit takes so long. */
export const SLOW_MS = 400

export async function commitsOf(db: Executor): Promise<Commits> {
  await db.query(`
    create table commits (how text not null);
    insert into commits values ('quick');
    create function commits_are() returns trigger language plpgsql as $$
    declare
      v_how text := (select how from commits);
    begin
      if v_how = 'slow' then
        perform pg_sleep(${SLOW_MS / 1_000});
      elsif v_how = 'failing' then
        raise exception 'no commit today' using errcode = 'TG999';
      end if;
      return null;
    end $$;
    create constraint trigger commits_are after update on books
      deferrable initially deferred for each row execute function commits_are()`)
  return {
    async become(how) {
      await db.query('update commits set how = $1', [how])
    },
  }
}
