-- What a restore to an earlier moment needs (`op restore`), and when backups were made.
--
-- Why: charges, key changes and books from after the moment were lost, and no command could list
-- them. The backup's own program adds a row to `backups`; the worker exports its age.
--
-- Safe while an older version runs: it uses none of this.

create table backups (
  finished_at timestamptz primary key default clock_timestamp(),
  kind text not null,
  constraint backups_are_of_a_kind check (kind in ('full', 'diff', 'incr'))
);

-- Inserts the holds of charges that were acknowledged after the moment, as holds of lost processes:
-- a settle of such a hold takes what is available, at most what was charged before, and the rest is
-- written off. A hold that exists stays as it is. Returns how many were inserted.
create or replace function ledger_holds_restore(
  p_instance int8, p_days int4[], p_ids uuid[], p_books int8[], p_tariffs int4[], p_charged int8[]
) returns int8 language sql volatile security definer
set search_path = pg_catalog, public, pg_temp as $$
  with restored as (
    insert into holds (id, book_id, instance, worst, floor, granted, fence, created_at,
      deadline_at, day, tariff, state, ending, closed_at)
    select o.id, o.book, p_instance, o.charged, 0, o.charged, b.fence, ledger_now(), ledger_now(),
      o.day, o.tariff, 'voided', 'process_lost', ledger_now()
    from unnest(p_days, p_ids, p_books, p_tariffs, p_charged) as o (day, id, book, tariff, charged)
    join books b on b.id = o.book
    on conflict do nothing
    returning 1
  )
  select count(*) from restored
$$;

-- Raises a book's fence to one that was acknowledged after the moment: no key from before it, and
-- no hold with a lower fence, is accepted. Never lowers one.
create or replace function ledger_fence_restore(p_book int8, p_fence int8) returns int8
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  update books set fence = greatest(fence, p_fence) where id = p_book returning fence
$$;

-- Moves the numbers of new books behind one that was given after the moment: a new customer would
-- otherwise get the number, and with it the charges and payments, of one whom the restore lost.
create or replace function ledger_books_skip(p_book int8) returns void
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  select setval('books_serial', p_book & ((1::int8 << 40) - 1))
  from books_serial where last_value < p_book & ((1::int8 << 40) - 1)
$$;
