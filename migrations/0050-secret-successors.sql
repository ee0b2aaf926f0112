-- Keys and sessions say which secret made them, so that a secret can have a successor.
--
-- Why: a new tag secret refused every issued key, and a new accounts secret ended every session and
-- locked authenticator apps out. Both secrets are accepted for a time now, and an operator has to
-- know what still depends on the old one. Null: made before there were ids, by the secret 1.
--
-- Safe while an older version runs: it leaves the columns null, and it has only the secret 1.

alter table keys add column secret_id int2;
alter table sessions add column secret_id int2;

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

-- The id of the secret that encrypted a text of better-auth, '$ba$<id>$<text>'. A text without one
-- is older than the ids and counts as the first.
create or replace function accounts_secret_id(p_text text)
returns int4 language sql immutable parallel safe as $$
  select coalesce(substring(p_text from '^\$ba\$([0-9]{1,9})\$')::int4, 1)
$$;

-- How many things each accounts secret made that end when it is withdrawn. Security definer: an
-- operator may count them, and not read seeds, recovery codes and the secrets of sessions.
create or replace function accounts_secret_uses()
returns table (secret_id int4, what text, things int8) language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  return query
    select coalesce(s.secret_id, 1)::int4, 'sessions', count(*)
    from sessions s where s.expires_at > clock_timestamp() group by 1
    union all
    select used.id, 'authenticator apps', count(*)
    from second_factors f
    cross join lateral (
      select distinct accounts_secret_id(given) as id
      from unnest(array[f.secret, f.recovery_codes]) as texts (given)
    ) as used
    group by 1
    order by 2, 1;
end $$;
