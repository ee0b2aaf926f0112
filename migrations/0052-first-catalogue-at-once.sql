-- Several processes may start at once with the first catalogue.
--
-- Why: two that inserted it at the same moment met the constraint of the digest before that of the
-- version, and the second one ended with an error.
--
-- Safe while an older version runs: it calls the same function and reads the same answer.

-- Applies the first version: the first process that starts may do so, later ones are an operator's.
-- Of processes that start at once one applies it: two constraints may say so, so none is named.
create or replace function catalogue_apply_first(
  p_by text, p_note text, p_body text, p_digest text
) returns boolean language plpgsql security definer
set search_path = pg_catalog, public, pg_temp as $$
begin
  insert into catalogue_versions (version, applied_by, note, body, digest)
  select 1, p_by, p_note, p_body, p_digest where not exists (select from catalogue_versions)
  on conflict do nothing;
  return found;
end
$$;
