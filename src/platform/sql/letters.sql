-- The job that sends an e-mail.

-- Adds the job, with the rights of this function's owner: those who write an e-mail may write no
-- other job, and need no right to the tables of graphile-worker.
create or replace function letters_queue(p_letter uuid) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform graphile_worker.add_job(
    'letter', json_build_object('id', p_letter), job_key => 'letter ' || p_letter);
end $$;

-- Deletes the e-mails of an account that is erased, and those to its addresses that are of no
-- account. Security definer: no program that may erase somebody may delete other e-mails.
create or replace function letters_erase(p_account text, p_addresses text[]) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  delete from letters
  where account_id = p_account
    or (account_id is null and lower(recipient) = any (p_addresses))
$$;
