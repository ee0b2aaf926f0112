-- Partitions of entries and holds: made ahead of their day, detached once their checkpoints are
-- committed.

-- Makes the partitions of a day and what lies ahead of it; returns the names it made.
-- Entries: one a day, seven days ahead. Holds: one a week, this and the next. A day whose rows are
-- in the default partition already (nobody made it in time) is left there: insisting on it would
-- fail, and the days ahead would never be made.
create or replace function ledger_partitions_make(p_today date)
returns text[] language plpgsql as $$
declare
  v_made text[] := '{}';
  v_name text;
  v_week int4 := floor((p_today - date '1970-01-01') / 7.0);
begin
  for i in -1..7 loop
    v_name := 'entries_' || to_char(p_today + i, 'YYYYMMDD');
    if to_regclass(v_name) is null
      and not exists (select from entries_default e where e.day = p_today + i) then
      execute format('create table %I partition of entries for values from (%L) to (%L)',
        v_name, p_today + i, p_today + i + 1);
      v_made := v_made || v_name;
    end if;
  end loop;
  for i in 0..1 loop
    v_name := 'holds_' || v_week + i;
    if to_regclass(v_name) is null
      and not exists (select from holds_default h where h.day / 7 = v_week + i) then
      execute format(
        'create table %I partition of holds for values from (%s) to (%s) with (fillfactor = 44)',
        v_name, (v_week + i) * 7, (v_week + i + 1) * 7);
      v_made := v_made || v_name;
    end if;
  end loop;
  return v_made;
end $$;

-- Takes a day's entries out of the ledger: their chain is folded into checkpoints, their spans are
-- forgotten, and the table is detached in the same transaction. The oldest day first; a broken
-- chain is refused, and so is a day that is not all in the sums, because nobody could add it later.
create or replace function ledger_entries_detach(p_partition regclass)
returns void language plpgsql as $$
declare
  v_is_behind boolean;
begin
  lock table entries in share update exclusive mode;
  execute format($sql$
    with last as (
      select distinct on (book_id) book_id, seq, balance, day from %1$s
      order by book_id, seq desc
    )
    insert into checkpoints (book_id, seq, balance, day)
    select book_id, seq, balance, day from last
    on conflict (book_id) do update
    set seq = excluded.seq, balance = excluded.balance, day = excluded.day
    where checkpoints.seq < excluded.seq
  $sql$, p_partition);
  execute format($sql$
    insert into checkpoint_sums (book_id, kind, entries, amount, written_off)
    select book_id, kind, count(*), sum(amount), coalesce(sum(written_off), 0) from %1$s
    group by book_id, kind
    on conflict (book_id, kind) do update
    set entries = checkpoint_sums.entries + excluded.entries,
      amount = checkpoint_sums.amount + excluded.amount,
      written_off = checkpoint_sums.written_off + excluded.written_off
  $sql$, p_partition);
  if exists (
    select from checkpoints c
    join (select book_id, sum(amount) as amount, sum(entries) as entries
      from checkpoint_sums group by book_id) s using (book_id)
    where (c.balance, c.seq) <> (s.amount, s.entries)
  ) then
    raise exception 'the chain in % does not tie out; nothing was detached', p_partition;
  end if;
  execute format($sql$
    select exists (select from %1$s e left join usage_marks m using (book_id)
      where e.seq > coalesce(m.seq, 0))
  $sql$, p_partition) into v_is_behind;
  if v_is_behind then
    raise exception 'the usage in % is not all added up; nothing was detached', p_partition;
  end if;
  execute format($sql$
    delete from usage_spans s using (select distinct book_id, day from %1$s) e
    where s.book_id = e.book_id and s.day = e.day
  $sql$, p_partition);
  execute format('alter table entries detach partition %s', p_partition);
end $$;
