-- What books used, added up: sums over time for charts, spans of entries for the request log.
--
-- Safe while an older version runs: only the new job writes here. One function is replaced: a day's
-- entries leave only when they are in the sums. Nothing is added to the hot tables; a settle does
-- not know of this. The job reads entries behind it, book by book, in the order of their numbers.

-- Up to which entry a book is in the sums and the spans. Mark, sums and spans move in one
-- transaction, under the lock of the mark's row: an entry is added exactly once, whoever dies when.
create table usage_marks (
  book_id int8 primary key,
  seq int8 not null default 0 constraint usage_marks_are_not_negative check (seq >= 0),
  -- Of the newest entry that was read: younger ones are in no older partition.
  day date not null default '-infinity'
) with (fillfactor = 70);

-- What a model cost a book in one step of time, which begins at `at`: days of UTC, three hours,
-- hours and quarters. A day of the owner's zone is the day of UTC nearest to it, with what lies
-- between their beginnings added or taken away, in steps as large as fit; quarters are enough,
-- because every zone of today is whole quarters away from UTC. Models are compared byte by byte:
-- adding up a year groups by them, and a language's order takes ten times as long.
create table usage_sums (
  book_id int8 not null,
  at timestamptz not null,
  requests int8 not null,
  free int8 not null,
  input int8 not null,
  output int8 not null,
  cache_read int8 not null,
  cache_write_5m int8 not null,
  cache_write_1h int8 not null,
  spent int8 not null,
  first_seq int8 not null,
  last_seq int8 not null,
  minutes int2 not null
    constraint usage_sums_have_four_steps check (minutes in (15, 60, 180, 1440)),
  model text collate "C" not null,
  primary key (book_id, minutes, at, model),
  constraint usage_sums_free_are_of_the_requests check (free between 0 and requests),
  constraint usage_sums_come_from_entries check (requests between 1 and last_seq - first_seq + 1)
) with (fillfactor = 80);

-- Where a book's requests of one model and ending are: among 1024 entries by number (a block) and
-- in one day, which is one partition. A filter of the log reads these first, and then only the
-- entries between first_seq and last_seq of a few of them, however rare a match is.
create table usage_spans (
  book_id int8 not null,
  block int8 not null,
  first_seq int8 not null,
  last_seq int8 not null,
  requests int4 not null,
  day date not null,
  ending ending not null,
  model text collate "C" not null,
  primary key (book_id, model, ending, block, day),
  constraint usage_spans_stay_in_their_block
    check (first_seq >> 10 = block and last_seq >> 10 = block),
  constraint usage_spans_come_from_entries check (requests between 1 and last_seq - first_seq + 1)
) with (fillfactor = 80);

-- Everything committed before `until` is in the sums; one row. For the metric of how far they lag.
create table usage_rounds (
  is_only boolean primary key default true constraint usage_rounds_is_one_row check (is_only),
  until timestamptz not null
);
insert into usage_rounds (until)
select coalesce(min(created_at), ledger_now()) from books;

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
