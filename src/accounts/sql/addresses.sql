-- An address that an owner has just given up stays reserved, so that the change can be undone; so
-- does the new one of an account that is being recovered.

-- Runs after the unique index was checked: if another account gives the address up in a concurrent
-- transaction, the index waits for that commit, and this query then sees the reservation.
create or replace function accounts_refuse_reserved_email() returns trigger language plpgsql as $$
begin
  if exists (
    select from email_changes
    where old_email = new.email and account_id <> new.id and undo_until > clock_timestamp()
  ) or exists (
    select from account_recoveries
    where new_email = new.email and account_id <> new.id
      and stopped_at is null and done_at is null and ends_at > clock_timestamp()
  ) then
    raise exception 'the address is reserved for another account'
      using errcode = 'unique_violation', constraint = 'accounts_emails_are_not_reserved';
  end if;
  return null;
end $$;
