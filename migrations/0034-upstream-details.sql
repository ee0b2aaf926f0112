-- What each process knows of a target besides its state: for `op upstreams`.
--
-- Why: an upstream limits each credential by model and path, and only the process knows which
-- pauses it was asked for, what is left of the limits, and why a credential is out of service.
--
-- Safe while an older version runs: it neither reads nor writes the column.

alter table upstream_views add column details jsonb;
