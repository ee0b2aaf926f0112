-- The closing of an account moves forward only. What its owner agreed to, and when, never changes.
create or replace function account_closings_move() returns trigger language plpgsql as $$
begin
  if (new.id, new.account_id, new.unspent, new.begun_by, new.was_stopped, new.begun_at)
    is distinct from
    (old.id, old.account_id, old.unspent, old.begun_by, old.was_stopped, old.begun_at) then
    raise exception 'what was agreed when closing % began cannot change', old.id
      using errcode = 'check_violation';
  end if;
  if new.step <> old.step and (old.step, new.step) not in (
    ('closing', 'drained'), ('closing', 'stopped'), ('drained', 'refunded'), ('refunded', 'closed')
  ) then
    raise exception 'closing % cannot go from % to %', old.id, old.step, new.step
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
