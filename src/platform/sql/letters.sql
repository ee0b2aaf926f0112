-- The job that sends an e-mail.

-- Adds the job, with the rights of this function's owner: those who write an e-mail may write no
-- other job, and need no right to the tables of graphile-worker.
create or replace function letters_queue(p_letter uuid) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform graphile_worker.add_job(
    'letter', json_build_object('id', p_letter), job_key => 'letter ' || p_letter);
end $$;
