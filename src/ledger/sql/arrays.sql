-- Shared by the functions that take arrays: they lock books in order and refuse an array that
-- contains an id twice.

-- The positions in p_books whose book is in the sorted array p_of, such as the locked books. It
-- searches by bisection: `= any` would compare up to 256 books with 256.
--
-- `rows 1` is too low on purpose: with one row the planner always joins by index. With hundreds it
-- chooses a sequential scan while the table is small, and keeps that plan when the table has grown:
-- settles were four times slower after 150,000 holds.
create or replace function ledger_places(p_books int8[], p_of int8[])
returns table (n int4, book int8) language plpgsql immutable rows 1 as $$
begin
  return query select o.n::int4, o.book from unnest(p_books) with ordinality as o (book, n)
  where p_of[width_bucket(o.book, p_of)] = o.book;
end $$;

-- Locks the books of an array and returns the locked ones, sorted. Without p_wait it skips a book
-- that another transaction has locked, so that no other book waits. The operations of that book
-- return 'busy', and the ledger sends them again in a lane, with p_wait.
create or replace function ledger_lock(p_wait boolean, p_books int8[])
returns int8[] language plpgsql as $$
declare
  v_locked int8[];
begin
  perform ledger_assert_read_committed();
  -- 256: beyond it a pair costs no less (measured) and the locks of one call are held longer.
  if cardinality(p_books) > 256 then
    raise exception 'an array holds at most 256 operations'
      using errcode = 'program_limit_exceeded';
  end if;
  if p_wait then
    select array_agg(t.id) into v_locked from (
      select id from books where id = any (p_books) order by id for no key update) t;
  else
    select array_agg(t.id) into v_locked from (
      select id from books where id = any (p_books) order by id for no key update skip locked) t;
  end if;
  return coalesce(v_locked, '{}');
end $$;

-- The outcomes of an array as text. An operation without an outcome has a book that is not locked.
create or replace function ledger_outcomes(p_outcomes text[], p_books int8[]) returns text
language plpgsql as $$
begin
  if array_position(p_outcomes, null) is not null then
    for i in 1..cardinality(p_outcomes) loop
      if p_outcomes[i] is null then
        p_outcomes[i] := ledger_missing(p_books[i]);
      end if;
    end loop;
  end if;
  return array_to_string(p_outcomes, ',');
end $$;

-- Why a book was not locked: another transaction has locked it, or it does not exist.
create or replace function ledger_missing(p_book int8) returns text language sql stable as $$
  select case when exists (select from books where id = p_book) then 'busy' else 'book_unknown' end
$$;

-- Refuses an array that contains an id twice: a bug of the caller. A repeat comes in a later call.
create or replace function ledger_refuse_doubles(p_ids uuid[]) returns void language plpgsql as $$
begin
  if (select count(distinct id) from unnest(p_ids) as o (id)) <> cardinality(p_ids) then
    raise exception 'an id appears twice in one array' using errcode = 'TG002';
  end if;
end $$;
