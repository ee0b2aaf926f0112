-- Which accounts secret made what: the id is in an encrypted text and in a session's row.

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
