-- A book by itself: opening it, raising its fence, its limits, stopping it and letting it go on.
-- These functions run with the rights of their owner: no role may write the table itself.

create or replace function ledger_open() returns int8
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  insert into books (id)
  select (cell.number::int8 << 40) | nextval('books_serial') from cell
  returning id
$$;

-- Raises a book's fence: from this commit on, no hold with the old one is granted, on any node.
create or replace function ledger_fence_raise(p_book int8) returns int8
language sql volatile security definer set search_path = pg_catalog, public, pg_temp as $$
  update books set fence = fence + 1 where id = p_book returning fence
$$;

-- Sets the owner's limits; null removes one. Adding a velocity limit starts a new window; changing
-- one does not, or owners could get around the limit by changing it.
create or replace function ledger_limits_set(
  p_book int8, p_day_limit int8, p_velocity_limit int8, p_velocity_seconds int4
) returns void language sql volatile security definer
set search_path = pg_catalog, public, pg_temp as $$
  update books
  set day_limit = p_day_limit, velocity_limit = p_velocity_limit,
    velocity_seconds = p_velocity_seconds,
    velocity_spent = case when velocity_limit is null then 0 else velocity_spent end,
    velocity_until = case when velocity_limit is null then '-infinity' else velocity_until end
  where id = p_book
$$;

-- Stops a book. The operator's reason comes over the others, which wait beneath it.
create or replace function ledger_block(p_book int8, p_reason blocked_reason) returns void
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  v_was blocked_reason;
begin
  perform ledger_assert_read_committed();
  select blocked_reason into v_was from books where id = p_book for no key update;
  if not found or (v_was = 'operator_blocked' and p_reason = 'operator_blocked') then
    return;
  end if;
  if v_was = 'operator_blocked' then
    insert into stops_beneath (book_id, reason) values (p_book, p_reason)
    on conflict (book_id) do update set reason = excluded.reason;
    return;
  end if;
  if p_reason = 'operator_blocked' then
    delete from stops_beneath where book_id = p_book;
    insert into stops_beneath (book_id, reason) select p_book, v_was where v_was is not null;
  end if;
  update books set blocked_reason = p_reason where id = p_book;
end $$;

-- Lifts one reason and no other, also one that waits beneath; true when it was in force. What
-- waits comes into force when the operator's is lifted. An owner who goes on starts a new velocity
-- window, or the next charge would stop the book again; an operator leaves the owner's window.
create or replace function ledger_resume(p_book int8, p_reason blocked_reason) returns boolean
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
declare
  v_was blocked_reason;
  v_beneath blocked_reason;
begin
  perform ledger_assert_read_committed();
  select blocked_reason into v_was from books where id = p_book for no key update;
  if v_was is null or v_was not in (p_reason, 'operator_blocked') then
    return false;
  end if;
  if v_was = 'operator_blocked' then
    delete from stops_beneath
    where book_id = p_book and p_reason in (reason, 'operator_blocked')
    returning reason into v_beneath;
  end if;
  if p_reason = 'operator_blocked' then
    update books set blocked_reason = v_beneath where id = p_book;
  elsif v_was = p_reason or v_beneath is not null then
    update books
    set blocked_reason = nullif(v_was, p_reason), velocity_spent = 0, velocity_until = '-infinity'
    where id = p_book;
  end if;
  return v_was = p_reason;
end $$;
