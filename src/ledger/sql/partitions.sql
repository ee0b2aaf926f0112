-- Partitions of entries (a day each) and of holds (a week each): made ahead of their time, and
-- removed once the checkpoints of a day are committed. `create table … partition of` is never used:
-- it needs an ACCESS EXCLUSIVE lock on the whole table, so one open reader and one waiting maker
-- stopped every request for 5 s. The timeouts stand here, so that they hold for every caller.

-- Whether a table exists, by a query: after a wait for another maker, `to_regclass` may still
-- answer from this connection's cache.
create or replace function ledger_table_exists(p_name text) returns boolean
language plpgsql as $$
begin
  return exists (select from pg_class c where c.relname = p_name
    and c.relnamespace = (select t.relnamespace from pg_class t where t.oid = 'entries'::regclass));
end $$;

-- Makes the table of one day of entries; true when it was missing. ATTACH needs SHARE UPDATE
-- EXCLUSIVE on entries, which stops no read and no write, because entries have no default
-- partition. The new table has no CHECK of its day: it is empty, so there is nothing to scan, and
-- PostgreSQL would read the text of that check again for each statement that writes a row.
--
-- A day may come again: a clock ran ahead, the day left the ledger, the clock was corrected. Its
-- table is attached again, or made anew if it was dropped; `days` forgets that the day had left.
create or replace function ledger_entries_day_make(p_day date) returns boolean
language plpgsql set lock_timeout = '100ms' as $$
declare
  v_name text := 'entries_' || to_char(p_day, 'YYYYMMDD');
begin
  if exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'entries'::regclass and c.relname = v_name
  ) then
    return false;
  end if;
  if ledger_table_exists(v_name) then
    delete from entries_unverified where day = p_day;
  else
    execute format('create table %I (like entries including all)', v_name);
  end if;
  delete from days where day = p_day;
  execute format('alter table entries attach partition %I for values from (%L) to (%L)',
    v_name, p_day, p_day + 1);
  return true;
end $$;

-- Makes the table of one week of holds; true when it was missing. Rows of that week that are in the
-- default partition (a gateway's clock ran ahead, or no worker was there in time) move into it. The
-- lock on holds comes first and makes new holds wait: one that had chosen the default partition
-- already would fail. More than 5,000 rows stay where they are, and no table is made: moving 5,000
-- takes 0.1 to 0.2 s, and meanwhile every request waits. The default partition serves them as well.
--
-- ATTACH scans the default partition under its lock: 4 MB, about 25,000 holds, in 0.05 s, and 3
-- million holds in 4 s. A larger one must have a valid CHECK that excludes the week (the worker
-- adds it, partition-queries.ts), with which ATTACH scans nothing; else no table is made.
create or replace function ledger_holds_week_make(p_week int4) returns boolean
language plpgsql set lock_timeout = '100ms' as $$
declare
  v_name text := 'holds_' || p_week;
  v_first int4 := p_week * 7;
  v_check text := 'holds_default_without_' || p_week;
begin
  if ledger_table_exists(v_name) or (
    pg_relation_size('holds_default') > 4194304 and not exists (
      select from pg_constraint c
      where c.conrelid = 'holds_default'::regclass and c.conname = v_check and c.convalidated)
  ) or (
    select count(*) from (
      select from holds_default h where h.day >= v_first and h.day < v_first + 7 limit 5001) t
  ) > 5000 then
    return false;
  end if;
  execute format('create table %I (like holds including all) with (fillfactor = 44)', v_name);
  lock table only holds in share row exclusive mode;
  lock table only holds_default in access exclusive mode;
  execute format('insert into %I select * from holds_default where day >= %s and day < %s',
    v_name, v_first, v_first + 7);
  delete from holds_default h where h.day >= v_first and h.day < v_first + 7;
  execute format('alter table holds attach partition %I for values from (%s) to (%s)',
    v_name, v_first, v_first + 7);
  execute format('alter table holds_default drop constraint if exists %I', v_check);
  return true;
end $$;

-- The partitions around a day, in one transaction: for the version before 0024 and for tools.
-- Workers make each partition in a transaction of its own.
create or replace function ledger_partitions_make(p_today date)
returns text[] language plpgsql as $$
declare
  v_made text[] := '{}';
  v_week int4 := floor((p_today - date '1970-01-01') / 7.0);
begin
  for i in -1..7 loop
    if ledger_entries_day_make(p_today + i) then
      v_made := v_made || ('entries_' || to_char(p_today + i, 'YYYYMMDD'));
    end if;
  end loop;
  for i in 0..1 loop
    if ledger_holds_week_make(v_week + i) then
      v_made := v_made || ('holds_' || v_week + i);
    end if;
  end loop;
  return v_made;
end $$;

-- Writes the checkpoints of a day, the oldest that has none: from then on the chain of its books
-- starts after it, its spans are forgotten, and the day can be detached. A book counts as verified
-- when its rows continue its checkpoint without a gap and each balance is right. The rows of other
-- books are copied to entries_unverified and do not stop the day: the audit reads them there, and
-- each later day tries again, so that a book goes on when its rows were repaired. Rows that a clock
-- before 0024 wrote to the wrong day verify with the next day. Refused while a verified book is not
-- all in the sums, because its usage could not be added later; a book that the job has not begun to
-- split has no mark there, and its history is copied from the sums.
create or replace function ledger_day_checkpoint(p_day date) returns void
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  v_table text := 'entries_' || to_char(p_day, 'YYYYMMDD');
  -- A day that came again has rows that are in the checkpoints already.
  v_new text := format(
    '(select e.* from %I e where not exists (select from checkpoints c
       where c.book_id = e.book_id and c.seq >= e.seq and c.day >= %L))', v_table, p_day);
  v_rows text := format(
    '(select n.*, false as is_old from %s n union all select u.*, true from entries_unverified u)',
    v_new);
  v_unverified int8[];
  v_is_behind boolean;
begin
  if exists (
    select from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'entries'::regclass and c.relname < v_table
      and not exists (select from days d where 'entries_' || to_char(d.day, 'YYYYMMDD') = c.relname)
  ) then
    raise exception 'an older day than % has no checkpoints yet', p_day;
  end if;
  execute format($sql$
    with chain as (
      select r.book_id, r.seq, r.is_old, b.id is not null
          and r.seq = lag(r.seq, 1, coalesce(c.seq, 0)) over w + 1
          and r.balance = lag(r.balance, 1, coalesce(c.balance, 0)) over w + r.amount as is_next
      from %1$s r
      left join checkpoints c on c.book_id = r.book_id
      left join books b on b.id = r.book_id
      window w as (partition by r.book_id order by r.seq)
    ), summed as (
      select k.book_id, bool_and(k.is_next) as is_whole, bool_or(k.is_old) as is_old,
        max(k.seq) > least(coalesce(max(m.seq), 0), max(n.seq)) as is_behind
      from chain k left join usage_marks m on m.book_id = k.book_id
      left join usage_split_marks n on n.book_id = k.book_id
      group by k.book_id
    )
    select coalesce(array_agg(book_id) filter (where not is_whole or (is_old and is_behind)), '{}'),
      coalesce(bool_or(is_whole and is_behind and not is_old), false)
    from summed
  $sql$, v_rows) into v_unverified, v_is_behind;
  if v_is_behind then
    raise exception 'the usage in % is not all added up; nothing was changed', v_table;
  end if;
  -- One statement: once the checkpoints are written, their rows are no longer among these.
  execute format($sql$
    with verified as materialized (
      select book_id, seq, kind, amount, balance, written_off from %1$s r
      where book_id <> all ($1)
    ), checkpointed as (
      insert into checkpoints (book_id, seq, balance, day)
      select distinct on (book_id) book_id, seq, balance, $2 from verified
      order by book_id, seq desc
      on conflict (book_id) do update
      set seq = excluded.seq, balance = excluded.balance, day = excluded.day
    )
    insert into checkpoint_sums (book_id, kind, entries, amount, written_off)
    select book_id, kind, count(*), sum(amount), coalesce(sum(written_off), 0) from verified
    group by book_id, kind
    on conflict (book_id, kind) do update
    set entries = checkpoint_sums.entries + excluded.entries,
      amount = checkpoint_sums.amount + excluded.amount,
      written_off = checkpoint_sums.written_off + excluded.written_off
  $sql$, v_rows) using v_unverified, p_day;
  delete from entries_unverified where book_id <> all (v_unverified);
  execute format('insert into entries_unverified select * from %s n where book_id = any ($1)',
    v_new) using v_unverified;
  execute format($sql$
    delete from usage_spans s using (select distinct book_id from %I) e
    where s.book_id = e.book_id and s.day = $1
  $sql$, v_table) using p_day;
  execute format($sql$
    delete from usage_split_spans s using (select distinct book_id from %I) e
    where s.book_id = e.book_id and s.day = $1
  $sql$, v_table) using p_day;
  execute format($sql$
    insert into days (day, state, rows, unverified, checkpointed_at)
    select $2, 'checkpointed', count(*), count(*) filter (where book_id = any ($1)), ledger_now()
    from %I
  $sql$, v_table) using v_unverified, p_day;
end $$;

-- Takes a day away in one transaction: for the version before 0024. It needs an ACCESS EXCLUSIVE
-- lock on entries; workers detach concurrently, which needs none.
create or replace function ledger_entries_detach(p_partition regclass)
returns void language plpgsql set lock_timeout = '100ms' as $$
declare
  v_day date := to_date(right(p_partition::text, 8), 'YYYYMMDD');
begin
  if not exists (select from days where day = v_day) then
    perform ledger_day_checkpoint(v_day);
  end if;
  execute format('alter table entries detach partition %s', p_partition);
  update days set state = 'detached', detached_at = ledger_now() where day = v_day;
end $$;
