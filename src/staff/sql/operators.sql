-- What operators read about customers and what waits for approval name nobody by address once it is
-- only history: each address becomes the id of its account, as in operators' acts. Security
-- definer: the operator's role may not read the changes of addresses itself.

create or replace function operator_reads_without_addresses() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  new.at := clock_timestamp();
  new.command := acts_without_addresses(new.command, 2000);
  return new;
end
$$;

-- A request that was decided or has expired is only history. While it waits, the person who decides
-- needs the addresses, and the command runs with them.
create or replace function operator_approvals_forget_addresses() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.state not in ('waiting', 'running') then
    new.command := acts_without_addresses(new.command, 2000);
    new.plan := array(
      select acts_without_addresses(line, 2000) from unnest(new.plan) with ordinality as l (line, n)
      order by n);
    new.detail := acts_without_addresses(new.detail, 1000);
    new.args := '{}';
    new.options := '{}';
  end if;
  return new;
end
$$;
