-- Who may do what in the database: the whole of it, applied by `migrate` after the migrations and
-- as often as you like. It takes everything away first, so what is not granted here nobody has.
-- `op roles check` compares a live database with it; docs/database-roles.md shows the result.
--
-- The owner is the role that runs `migrate`; no program runs as it. Money moves only by functions
-- that run with the owner's rights: no role below but the keeper may write books, holds, entries,
-- postings, lots, or change or delete what operators did.
--
--   tollgate_keeper    owns the partitioned tables, because DETACH … CONCURRENTLY needs the owner;
--                      the worker's jobs on partitions and its sweeper of holds have a connection
--                      of their own as it. The owner's functions write these tables and run their
--                      triggers, so the keeper's password is worth the owner's: guard it as such
--   tollgate_gateway   serve: holds, settles and voids; finds the key that a client presents
--   tollgate_cabinet   cabinet: people, keys, purchases
--   tollgate_worker    work: jobs, the sweeper, settlement with the payment provider
--   tollgate_operator  op: corrections, refunds, the catalogue; writes the list of operators' acts
--   tollgate_auditor   a person or program that reads and compares, and changes nothing
--
-- A role is made without a password: set one with ALTER ROLE … PASSWORD, or let pg_hba.conf decide.

-- Roles belong to the whole server: another database may be making them at this moment.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['tollgate_keeper', 'tollgate_gateway', 'tollgate_cabinet',
    'tollgate_worker', 'tollgate_operator', 'tollgate_auditor']
  loop
    if not exists (select from pg_roles where rolname = v_role) then
      begin
        execute format('create role %I login', v_role);
      exception when duplicate_object or unique_violation then
        null;
      end;
    end if;
  end loop;
  -- The owner's functions write the keeper's tables, and later migrations change them.
  if not pg_has_role('tollgate_keeper', 'usage') then
    begin
      execute format('grant tollgate_keeper to %I', current_user);
    exception when unique_violation then
      null;
    end;
  end if;
end $$;

grant create on schema public to tollgate_keeper;

-- `migrate` applies what stands above this line first, then gives the partitioned tables to the
-- keeper, each in a transaction of its own: it needs a lock that stops requests. The rest is one
-- transaction, whose locks stop no request.
-- § rights

-- Nobody has what is not granted below.
do $$
begin
  if has_schema_privilege('public', 'public', 'create') then
    revoke create on schema public from public;
  end if;
end $$;
revoke all on schema public, graphile_worker from tollgate_keeper, tollgate_gateway,
  tollgate_cabinet, tollgate_worker, tollgate_operator, tollgate_auditor;
revoke all on all tables in schema public, graphile_worker from public, tollgate_gateway,
  tollgate_cabinet, tollgate_worker, tollgate_operator, tollgate_auditor;
revoke all on all sequences in schema public, graphile_worker from public, tollgate_keeper,
  tollgate_gateway, tollgate_cabinet, tollgate_worker, tollgate_operator, tollgate_auditor;
revoke all on all functions in schema public, graphile_worker from public, tollgate_keeper,
  tollgate_gateway, tollgate_cabinet, tollgate_worker, tollgate_operator, tollgate_auditor;
grant usage on schema public to tollgate_keeper, tollgate_gateway, tollgate_cabinet,
  tollgate_worker, tollgate_operator, tollgate_auditor;

-- The keeper: the partitioned tables, their partitions, and days that left.
grant create on schema public to tollgate_keeper;
do $$
declare
  v_table record;
begin
  for v_table in
    select c.oid::regclass as name, c.relowner = 'tollgate_keeper'::regrole as is_kept,
      c.relname ~ '^(entries(_restored)?(_[0-9]{8})?|holds(_default|_[0-9]+)?)$' as is_to_be_kept
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
  loop
    if v_table.is_to_be_kept then
      if not v_table.is_kept then
        execute format('alter table %s owner to tollgate_keeper', v_table.name);
      end if;
      execute format('grant select on %s to tollgate_worker, tollgate_operator, tollgate_auditor',
        v_table.name);
    else
      execute format('revoke all on %s from tollgate_keeper', v_table.name);
    end if;
  end loop;
end $$;
grant select, update, delete on days to tollgate_keeper;
grant select, delete on entries_unverified to tollgate_keeper;
-- Partitions have the checks and the triggers of their table.
grant execute on function ledger_now, ledger_table_exists, ledger_entries_day_make,
  ledger_holds_week_make, ledger_day_checkpoint, ledger_refuse_change, entries_keep_rules,
  holds_keep_rules to tollgate_keeper;
-- A day that left the ledger is read by its own name, also one that is made later.
alter default privileges for role tollgate_keeper in schema public
  grant select on tables to tollgate_worker, tollgate_operator, tollgate_auditor;

-- What every program reads: the cell, prices, balances and the book's entries.
grant select on cell, kysely_migration, catalogue_versions, tariffs, books, holds, entries,
  stops_beneath, refused_requests, upstream_settings, upstream_views
  to tollgate_gateway, tollgate_cabinet, tollgate_worker, tollgate_operator, tollgate_auditor;
grant execute on function ledger_now, ledger_headroom, usage_latency_step, usage_cache_saved,
  usage_figures_text
  to tollgate_gateway, tollgate_cabinet, tollgate_worker, tollgate_operator, tollgate_auditor;
grant execute on function catalogue_apply_first
  to tollgate_gateway, tollgate_cabinet, tollgate_worker, tollgate_operator;

-- The gateway.
grant execute on function ledger_hold, ledger_hold_many, ledger_settle_request,
  ledger_settle_requests, ledger_void_request, ledger_void_requests, keys_candidates
  to tollgate_gateway;
grant insert on tariffs, quarantine to tollgate_gateway;
grant select on quarantine, upstream_credentials, usage_marks, usage_spans, usage_sums,
  usage_split_marks, usage_split_sums, usage_split_spans, usage_sessions to tollgate_gateway;
grant select (book_id, kind, at) on postings to tollgate_gateway;
grant select, insert, update on refused_requests, wrong_keys to tollgate_gateway;
grant select, insert, update, delete on instances, upstream_views, upstream_credential_problems,
  busiest_accounts to tollgate_gateway;

-- The cabinet: people.
grant select, insert, update, delete on account_codes, account_consents, account_devices,
  account_throttles, credentials, email_changes, passkeys, registrations, second_factors, sessions
  to tollgate_cabinet;
grant select, insert, update on accounts, account_closings, guards to tollgate_cabinet;
grant execute on function accounts_secret_id to tollgate_cabinet;
grant select, insert on account_recovery_warnings to tollgate_cabinet;
-- The trigger of recoveries compares with what operators asked.
grant select on account_identity_checks to tollgate_cabinet;
grant select, insert, update on account_recoveries to tollgate_cabinet;
-- The cabinet: keys and the owner's own limits and stops.
grant select, insert, update, delete on keys to tollgate_cabinet;
grant execute on function keys_candidates, ledger_open, ledger_fence_raise, ledger_limits_set,
  ledger_block, ledger_resume, ledger_lots to tollgate_cabinet;
-- The cabinet: what it shows.
grant select on lots, postings, usage_marks, usage_spans, usage_sums, usage_split_marks,
  usage_split_sums, usage_split_spans, usage_sessions, payment_checks, promo_codes, promo_attempts,
  promo_redemptions, disputes, upstream_credentials, upstream_credential_problems, top_ups,
  top_up_consents to tollgate_cabinet;
-- The cabinet: purchases. Only orders_credit writes credited_at, credited_by and lot.
grant select on orders to tollgate_cabinet;
grant insert (id, book_id, attempt, provider, method, state, pack_id, pack_title, credits,
  price_kopecks, catalogue_version, email, locale, receipt, request_body, is_top_up, saves_method,
  consent_id, next_at, shop, charge_after) on orders to tollgate_cabinet;
grant update (state, provider_payment_id, confirmation_kind, confirmation, payable_until,
  request_body, polled_from, looks, looked_at, next_at, cancel_reason, receipt_state,
  refunded_kopecks, email, posted_at, paid_at, charge_after, captured_kopecks, income_kopecks)
  on orders to tollgate_cabinet;
grant select, insert, update on payment_notices, payment_reviews, payment_sweeps, payment_findings,
  refunds, promo_attempts, mandates, top_up_settings, saved_methods to tollgate_cabinet;
grant delete on saved_methods, mandates to tollgate_cabinet;
grant usage on sequence top_up_consents_id_seq to tollgate_cabinet;
grant select, insert on payment_payers, promo_purchases to tollgate_cabinet;
grant select on receipts to tollgate_cabinet;
grant execute on function receipts_uncompleted, receipts_completed_part
  to tollgate_cabinet, tollgate_worker, tollgate_operator;
grant insert (code, book_id, address_digest) on promo_redemptions to tollgate_cabinet;
grant update (redeemed) on promo_codes to tollgate_cabinet;
-- The cabinet: trials. Only trials_grant writes them.
grant select on trials to tollgate_cabinet;
grant execute on function orders_credit, promos_credit, trials_grant, ledger_refund,
  ledger_refund_reverse, ledger_forced_debit, ledger_adjust_down to tollgate_cabinet;
-- Only the worker says that an e-mail was sent: recoveries wait for it. Only the worker reads the
-- texts: their codes sign people in.
grant select (id, kind, once, recipient, subject, state, attempts, leased_until, last_error,
  posted_at, ended_at, account_id),
  insert (kind, once, recipient, subject, body_text, body_html, unsubscribe, account_id)
  on letters
  to tollgate_cabinet, tollgate_operator;
grant select on status_components, status_days, status_outages, status_incidents,
  status_incident_updates to tollgate_cabinet;
grant execute on function letters_queue to tollgate_cabinet;

-- The worker: the ledger's upkeep.
grant execute on function ledger_settle_request, ledger_settle_requests, ledger_void_request,
  ledger_void_requests, ledger_hold_lock, ledger_hold_refuse, ledger_lots, ledger_block
  to tollgate_worker;
grant select on lots, postings, checkpoints, checkpoint_sums, days, entries_unverified, backups
  to tollgate_worker;
grant insert on tariffs to tollgate_worker;
grant select, insert, update on audit_marks, sweep_marks, usage_marks, usage_spans, usage_sums,
  usage_rounds, usage_split_marks, usage_split_sums, usage_split_spans, usage_sessions, quarantine,
  vendor_bills to tollgate_worker;
grant delete on usage_split_sums, usage_sessions to tollgate_worker;
grant execute on function usage_histogram_add to tollgate_worker;
grant select, insert, update, delete on instances, refused_requests to tollgate_worker;
-- The worker: closing accounts, erasing people.
grant select, update on accounts, account_closings to tollgate_worker;
grant select, delete on account_codes, account_consents, account_devices, account_throttles,
  credentials, email_changes, passkeys, registrations, second_factors, sessions to tollgate_worker;
grant select, delete on account_identity_checks to tollgate_worker;
-- The worker: reminds of recoveries, and ends those whose time is over.
grant select, update, delete on account_recoveries to tollgate_worker;
grant select, insert, delete on account_recovery_warnings to tollgate_worker;
grant execute on function accounts_addresses, accounts_erasable, accounts_erase, payments_erase,
  ledger_erase_names, usage_erase_names, letters_erase
  to tollgate_worker, tollgate_operator;
grant execute on function payments_forget_redeemers to tollgate_worker;
grant execute on function accounts_export, accounts_addresses to tollgate_cabinet,
  tollgate_operator;
grant select on receipt_decisions to tollgate_cabinet, tollgate_worker;
-- The worker: payments.
grant select on orders to tollgate_worker;
grant insert (id, book_id, attempt, provider, method, state, pack_id, pack_title, credits,
  price_kopecks, catalogue_version, email, locale, receipt, request_body, is_top_up, saves_method,
  consent_id, next_at, shop, charge_after) on orders to tollgate_worker;
grant update (state, provider_payment_id, confirmation_kind, confirmation, payable_until,
  request_body, polled_from, looks, looked_at, next_at, cancel_reason, receipt_state,
  refunded_kopecks, email, posted_at, paid_at, charge_after, captured_kopecks, income_kopecks)
  on orders to tollgate_worker;
grant select, insert, update on payment_reviews, payment_sweeps, payment_checks, refunds, receipts,
  guards to tollgate_worker;
grant select, insert, update, delete on payment_notices, payment_findings, payment_payers, mandates,
  saved_methods, top_up_settings to tollgate_worker;
grant select, delete on top_ups, top_up_consents to tollgate_worker;
-- The worker: the networks of trials are forgotten after two days.
grant select, delete on trial_networks to tollgate_worker;
grant select on trials, disputes, promo_codes, promo_attempts, promo_purchases, promo_redemptions
  to tollgate_worker;
grant execute on function orders_credit, ledger_refund, ledger_refund_reverse, ledger_forced_debit,
  ledger_adjust_down to tollgate_worker;
-- The worker: verifies operators' acts and sends them to their copy.
grant select on operator_acts, act_chain to tollgate_worker;
grant select, insert, update on act_copies to tollgate_worker;
-- The worker: the probes of the status page. Only status_record writes what they saw.
grant select on status_components, status_samples, status_days, status_outages, status_incidents,
  status_incident_updates to tollgate_worker;
grant update (next_at, turn) on status_components to tollgate_worker;
grant execute on function status_record, status_forget to tollgate_worker;
-- The worker: e-mails.
grant select, insert, update, delete on letters to tollgate_worker;
grant execute on function letters_queue to tollgate_worker;

-- The operator.
grant execute on function ledger_gift, ledger_adjust_up, ledger_adjust_down, ledger_refund,
  ledger_refund_reverse, ledger_forced_debit, ledger_block, ledger_resume, ledger_fence_raise,
  ledger_lots, ledger_settle_request, ledger_settle_requests, ledger_void_request,
  ledger_void_requests, ledger_hold_lock, ledger_hold_refuse, orders_credit, keys_candidates,
  letters_queue, accounts_secret_uses to tollgate_operator;
grant select, insert on operator_acts, catalogue_versions, month_seals, receipt_decisions
  to tollgate_operator;
grant select on accounts, account_consents, guards, lots, postings, checkpoints, checkpoint_sums,
  days, entries_unverified, backups, usage_marks, usage_rounds, usage_spans, usage_sums,
  usage_split_marks, usage_split_sums, usage_split_spans, usage_sessions, promo_attempts,
  promo_purchases, promo_redemptions, trials, payment_checks, payment_notices, busiest_accounts,
  upstream_credential_problems, audit_marks, sweep_marks, act_chain, act_copies
  to tollgate_operator;
-- Recoveries that operators begin or stop, and locks that they release.
grant select, insert on account_identity_checks to tollgate_operator;
grant select, insert, update on account_recoveries to tollgate_operator;
grant select on account_recovery_warnings, email_changes to tollgate_operator;
grant select (id, account_id, failed_count, locked_until), update (failed_count, locked_until)
  on second_factors to tollgate_operator;
grant update (unlocks, guessed_until) on accounts to tollgate_operator;
grant insert on tariffs to tollgate_operator;
-- Invitations, and registrations that wait. Not their codes and password hashes.
grant select (id, email, language, invited_by, address, created_at, expires_at),
  insert (id, email, password_hash, language, consents, address, code_hash, expires_at, invited_by),
  update (code_hash, expires_at), delete on registrations to tollgate_operator;
-- Whether an address is reserved for the account that had it.
grant select (old_email, undo_until) on email_changes to tollgate_operator;
-- Operators as people: sign-in, limits, tokens, approvals. Reads are only added.
grant select, insert, update on operators, operator_tokens, operator_day_sums, operator_approvals
  to tollgate_operator;
grant select, insert, update, delete on operator_factors, operator_passkeys, operator_challenges,
  operator_sessions, operator_throttles to tollgate_operator;
grant select, insert on operator_reads to tollgate_operator;
-- `op close` locks the account's row, which needs the right to update some column.
grant update (updated_at) on accounts to tollgate_operator;
-- Incidents of the status page: what was published is only added to.
grant select on status_components, status_samples, status_days, status_outages to tollgate_operator;
grant select, insert on status_incidents, status_incident_updates to tollgate_operator;
grant update (closed_at) on status_incidents to tollgate_operator;
-- `op days export` records its files.
grant update (state, exported_at, rows, folder, digest) on days to tollgate_operator;
grant select, insert, update on promo_codes, quarantine, vendor_bills, refunds, disputes,
  payment_reviews, payment_sweeps, payment_findings, mandates, upstream_settings, account_closings
  to tollgate_operator;
grant select, update on receipts to tollgate_operator;
grant select, insert, update, delete on keys, upstream_credentials, instances, saved_methods
  to tollgate_operator;
grant select, insert on payment_payers to tollgate_operator;
grant select on orders, top_ups, top_up_consents, top_up_settings to tollgate_operator;
-- `op restore repair` writes orders again that a restore lost; only orders_credit credits them.
grant insert (id, book_id, attempt, provider, shop, method, state, pack_id, pack_title, credits,
  price_kopecks, catalogue_version, email, locale, is_top_up, saves_method) on orders
  to tollgate_operator;
grant execute on function ledger_holds_restore, ledger_fence_restore, ledger_books_skip
  to tollgate_operator;
grant update (state, provider_payment_id, confirmation_kind, confirmation, payable_until,
  request_body, polled_from, looks, looked_at, next_at, cancel_reason, receipt_state,
  refunded_kopecks, paid_at, captured_kopecks, income_kopecks) on orders to tollgate_operator;

-- The auditor: everything but what proves who somebody is.
grant select on account_closings, account_consents, accounts, act_chain, act_copies, audit_marks,
  checkpoint_sums,
  checkpoints, days,
  disputes, entries_unverified, guards, instances, lots, mandates, operator_acts, orders,
  payment_checks, payment_findings, payment_notices, payment_payers, payment_reviews,
  payment_sweeps, postings, promo_attempts, promo_codes, promo_purchases, promo_redemptions,
  trials, trial_days,
  quarantine, refunds, sweep_marks, top_up_consents, top_up_settings, top_ups, backups,
  upstream_credentials, upstream_credential_problems, usage_marks, usage_rounds, usage_spans,
  usage_sums, usage_split_marks, usage_split_sums, usage_split_spans, usage_sessions, vendor_bills,
  busiest_accounts, month_seals, receipt_decisions, receipts, status_components, status_samples,
  status_days, status_outages, status_incidents, status_incident_updates to tollgate_auditor;
grant select (id, book_id, state, fence, last4, created_at, activated_at, revoked_at)
  on keys to tollgate_auditor;
grant select (id, kind, recipient, subject, state, attempts, last_error, posted_at, ended_at)
  on letters to tollgate_auditor;
grant select (id, email, name, role, state, created_at, created_by) on operators
  to tollgate_auditor;
grant select (id, name, role, created_at, created_by, ends_at, used_at, revoked_at)
  on operator_tokens to tollgate_auditor;
grant select on operator_reads, operator_day_sums, operator_approvals to tollgate_auditor;

-- The audit's rules read only.
grant execute on function ledger_audited_entries, ledger_hold_day, ledger_cost,
  ledger_parts_priced, ledger_audit_entries_of, ledger_audit_chain_of, ledger_audit_chain,
  ledger_audit_charges_of, ledger_audit_settled_of, ledger_audit_holds, ledger_audit_postings_of,
  ledger_audit_sums_of, ledger_audit_triggers
  to tollgate_worker, tollgate_operator, tollgate_auditor;
grant execute on function ledger_lots to tollgate_auditor;

-- graphile-worker: its tables have row level security without policies, so that only their owner
-- reads them. `migrate` makes them, and a worker that starts finds nothing to change.
grant usage on schema graphile_worker to tollgate_worker;
grant select, insert, update, delete on all tables in schema graphile_worker to tollgate_worker;
revoke insert, update, delete on graphile_worker.migrations from tollgate_worker;
grant usage on all sequences in schema graphile_worker to tollgate_worker;
grant execute on all functions in schema graphile_worker to tollgate_worker;
do $$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid::regclass from pg_class c
    where c.relnamespace = 'graphile_worker'::regnamespace and c.relrowsecurity
      and not exists (select from pg_policy p
        where p.polrelid = c.oid and p.polname = 'tollgate_worker')
  loop
    execute format('create policy tollgate_worker on %s to tollgate_worker using (true)', v_table);
  end loop;
end $$;
