-- A key that was revoked never comes back, and no key is deleted; and how a gateway finds a key.

-- A key goes from pending to active to revoked and nothing else about it ever changes: not even a
-- bug can bring a revoked key back or move a key to another book. A pending key, which never
-- worked, may be replaced and so deleted.
create or replace function keys_refuse_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.state = 'pending' then
      return old;
    end if;
  elsif (old.state, new.state) in (('pending', 'active'), ('active', 'revoked'))
    and (old.id, old.book_id, old.last4, old.hash, old.created_at)
      = (new.id, new.book_id, new.last4, new.hash, new.created_at)
    and (old.lookup, old.lookup_slot, old.secret_id)
      is not distinct from (new.lookup, new.lookup_slot, new.secret_id)
    and (old.state = 'pending'
      or (old.fence, old.activated_at) = (new.fence, new.activated_at)) then
    return new;
  end if;
  raise exception 'a key goes from pending to active to revoked, and nothing else of it changes'
    using errcode = 'integrity_constraint_violation';
end $$;

-- The keys that one presented key can be: the one with its id, or those that share its lookup,
-- active ones first. A gateway may call this and nothing else, so it cannot list the hashes.
create or replace function keys_candidates(p_id text, p_lookup bytea)
returns setof keys language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  return query
    select * from keys k where k.id = p_id or k.lookup = p_lookup
    order by k.state, k.lookup_slot;
end $$;
