-- A week of holds is attached without a scan of a large default partition.
--
-- Why: ATTACH reads the whole default partition under its ACCESS EXCLUSIVE lock, to see that no row
-- of the new week is in it. After weeks without a worker it has millions of rows, and every request
-- waited for 4 s at 3 million. The worker now adds a CHECK that excludes the week, validates it
-- beside running requests, and only then calls this function; PostgreSQL skips the scan for it.
--
-- Safe while an older version runs: its worker adds no CHECK, so beside a large default partition
-- it makes no week, and the default partition serves the holds.

create or replace function ledger_holds_week_make(p_week int4) returns boolean
language plpgsql set lock_timeout = '100ms' as $$
declare
  v_name text := 'holds_' || p_week;
  v_first int4 := p_week * 7;
  v_check text := 'holds_default_without_' || p_week;
begin
  if ledger_table_exists(v_name) or (
    pg_relation_size('holds_default') > 4194304 and not exists (
      select from pg_constraint c
      where c.conrelid = 'holds_default'::regclass and c.conname = v_check and c.convalidated)
  ) or (
    select count(*) from (
      select from holds_default h where h.day >= v_first and h.day < v_first + 7 limit 5001) t
  ) > 5000 then
    return false;
  end if;
  execute format('create table %I (like holds including all) with (fillfactor = 44)', v_name);
  lock table only holds in share row exclusive mode;
  lock table only holds_default in access exclusive mode;
  execute format('insert into %I select * from holds_default where day >= %s and day < %s',
    v_name, v_first, v_first + 7);
  delete from holds_default h where h.day >= v_first and h.day < v_first + 7;
  execute format('alter table holds attach partition %I for values from (%s) to (%s)',
    v_name, v_first, v_first + 7);
  execute format('alter table holds_default drop constraint if exists %I', v_check);
  return true;
end $$;
