-- What operators read about customers and what waits for approval name nobody by address once it is
-- only history: each address becomes the id of its account, as in operators' acts. Security
-- definer: the operator's role may not read the changes of addresses itself.

create or replace function operator_reads_without_addresses() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  new.at := clock_timestamp();
  new.command := acts_without_addresses(
    case when new.command like 'find %'
      then 'find ' || accounts_searched(substr(new.command, 6)) else new.command end,
    2000);
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

-- Requests that wait and name the account end, because nobody can run them any more; of one that
-- runs, which may be the erasure itself, only its texts go.
create or replace function operator_approvals_erase(p_account text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_approval operator_approvals;
begin
  for v_approval in
    select * from operator_approvals where state in ('waiting', 'running') for update
  loop
    if strpos(acts_without_addresses(
      v_approval.command || ' ' || array_to_string(v_approval.plan, ' '), 100000), p_account) > 0
    then
      update operator_approvals set
        state = case when state = 'waiting' then 'expired' else state end,
        command = acts_without_addresses(command, 2000),
        plan = array(
          select acts_without_addresses(line, 2000)
          from unnest(plan) with ordinality as l (line, n) order by n),
        args = '{}', options = '{}'
      where id = v_approval.id;
    end if;
  end loop;
end
$$;
