-- The rows of a ledger as version 1.0.0 left it on 24 November 2026: its API and its worker wrote them.
-- Never change what a column holds here. The secrets are sealed with the key ring of the tests.

create table events_2026_11 partition of events for values from ('01a19467-e800-0000-0000-000000000000') to ('01a22ee6-b000-0000-0000-000000000000');
create table deliveries_2026_11 partition of deliveries for values from ('01a19467-e800-0000-0000-000000000000') to ('01a22ee6-b000-0000-0000-000000000000');
create table attempts_2026_11 partition of attempts for values from ('01a19467-e800-0000-0000-000000000000') to ('01a22ee6-b000-0000-0000-000000000000');
create table event_bodies_2026_11_24 partition of event_bodies for values from ('01a20ada-2c00-0000-0000-000000000000') to ('01a21000-8800-0000-0000-000000000000');
select setval('event_positions', 22);

-- The second organization is paused: see sending_pauses.
insert into organizations (id, name, plan, created_at, external_id) values
  ('01a20dae-07ea-7123-a267-c8df703605ab', 'Acme', 'enterprise', '2026-11-24 13:10:38.827547+00', 'cus_42'),
  ('01a20dae-09ec-7d8e-bd68-286f18378e28', 'Acme', 'enterprise', '2026-11-24 13:10:39.340941+00', null);

-- The first key of each organization works, the third is revoked. The test has their secrets.
insert into api_keys (id, organization_id, name, public_id, hash, scopes, ip_allowlist, created_at, revoked_at, last_used_at) values
  ('01a20dae-097d-7dc2-bdc9-a65645d2d382', '01a20dae-07ea-7123-a267-c8df703605ab', 'test key', 'bWpQbdLE', '\x243dc4141934beaa31939d90157271fc1a922bc1664f9b64b2c68dede914948b', '{*}', null, '2026-11-24 13:10:39.233816+00', null, '2026-11-24 13:10:39.421+00'),
  ('01a20dae-09f6-7e7d-a465-8607ab7573cc', '01a20dae-09ec-7d8e-bd68-286f18378e28', 'test key', 'fHHDyhNA', '\xc619e946320c4201a4a2551858541942ef7b48c652f16e068f1445b8be7d3365', '{*}', null, '2026-11-24 13:10:39.351522+00', null, '2026-11-24 13:10:39.72+00'),
  ('01a20dae-0a1a-7a63-97ee-886d51a78c35', '01a20dae-07ea-7123-a267-c8df703605ab', 'old key', 'fbXyYCpm', '\x557593f395af4a9a1981b8d596892316c98b62f3ef5cef804910202f5414990d', '{webhooks:read}', '{203.0.113.0/24}', '2026-11-24 13:10:39.386763+00', '2026-11-24 13:10:39.401065+00', null);

-- Enabled with a rotated secret; failing; disabled by its owner; deleted; disabled by an answer of 410; of the paused organization.
insert into webhooks (id, organization_id, url, event_patterns, description, state, disabled_reason, version, secret_sealed, previous_secret_sealed, previous_secret_expires_at, created_at, updated_at) values
  ('01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-07ea-7123-a267-c8df703605ab', 'https://receiver.example/hook', '{*}', 'All events', 'enabled', null, 3, 'v1.test.SDMWTLEV7JrGzLGR.qxQ8BPLPsiJw1Wg5qzPFwnSARHfSHPRgiGrQ1OluuQlPbbzkbfppgx9KRYO7tZRzCmfXtds_kybiH-EP40Qm3Lil', 'v1.test.HYFsrNSE2uX7fvak.0iZiLeqKI7FLxJC9pXhq_V0eH-58sIoQySwdFtqrsGn5dHMfYbTd4teYZbFUCIrpmvDeLIcHbpvaUhk5eW-c-ZCm', '2026-11-25 13:10:40.179278+00', '2026-11-24 13:10:39.442716+00', '2026-11-24 13:10:40.179278+00'),
  ('01a20dae-0b1c-7743-b348-44d4ba699e12', '01a20dae-07ea-7123-a267-c8df703605ab', 'https://receiver.example/flaky', '{batch.completed}', null, 'enabled', null, 1, 'v1.test.kXrOVyDtz5oZXPAk.AxoBPE3BRjUwg0TsL5OqxuSFn79BdvkbEQwuyo_2ABEYRzREHdEbjB1p_8ppTQF7p3ssRsE-hyp4NRC6kVrdwYmT', null, null, '2026-11-24 13:10:39.663349+00', '2026-11-24 13:10:39.66335+00'),
  ('01a20dae-0b21-75dd-bd96-7acd44b2f9e9', '01a20dae-07ea-7123-a267-c8df703605ab', 'https://receiver.example/off', '{batch.*}', null, 'disabled', 'manual', 2, 'v1.test.Y1Lz05pUA2rJE-T_.6W9CkRC6f6PKHZYjetsJzQvoqHIq5wrkL2by3amefGoPntjrwmX2Juf64_X3qQQdP4HeU48pBhafue9kDW-50Ort', null, null, '2026-11-24 13:10:39.69799+00', '2026-11-24 13:10:40.321174+00'),
  ('01a20dae-0b28-7581-9902-0cc6cdf84fee', '01a20dae-07ea-7123-a267-c8df703605ab', 'https://receiver.example/deleted', '{consultation.completed}', null, 'deleted', null, 2, null, null, null, '2026-11-24 13:10:39.727356+00', '2026-11-24 13:10:40.00185+00'),
  ('01a20dae-0b2c-745e-8967-e94b9bbba2df', '01a20dae-07ea-7123-a267-c8df703605ab', 'https://receiver.example/gone', '{consultation.completed}', null, 'disabled', 'gone', 2, 'v1.test.uq_Rt2L54PMDBGBL.X8F6LvHOV47cHQRDU8ZAHrFtmBhyN3xSsiRuAXoF3c4y3L9qjfHqbsqhDUc4xdVeq22yoyZ-ipzAtUcjyxlp2BRF', null, null, '2026-11-24 13:10:39.73542+00', '2026-11-24 13:10:39.996128+00'),
  ('01a20dae-0b69-7029-8ab5-d9350e906539', '01a20dae-09ec-7d8e-bd68-286f18378e28', 'https://receiver.example/paused', '{*}', null, 'enabled', null, 1, 'v1.test.z5JYmUgyK5op4K-X.VILgQhBurjQoTc9x_FyGV1gECBL4qFIwFuLCaxp3WDv-5tCoHxbQKaVOFMcCxIUHGfyDdSTQsV-lxwRB2BQ3Sqfo', null, null, '2026-11-24 13:10:39.739017+00', '2026-11-24 13:10:39.739017+00');

insert into webhook_urls (webhook_id, version, url) values
  ('01a20dae-0a4b-7e3b-9201-f0b7144ab964', 1, 'https://receiver.example/hook'),
  ('01a20dae-0b1c-7743-b348-44d4ba699e12', 1, 'https://receiver.example/flaky'),
  ('01a20dae-0b21-75dd-bd96-7acd44b2f9e9', 1, 'https://receiver.example/off'),
  ('01a20dae-0b28-7581-9902-0cc6cdf84fee', 1, 'https://receiver.example/deleted'),
  ('01a20dae-0b2c-745e-8967-e94b9bbba2df', 1, 'https://receiver.example/gone'),
  ('01a20dae-0b69-7029-8ab5-d9350e906539', 1, 'https://receiver.example/paused');

insert into webhook_health (webhook_id, consecutive_failures, failed_attempts, first_failure_at, openings) values
  ('01a20dae-0b1c-7743-b348-44d4ba699e12', 2, 2, '2026-11-24 13:10:40.483905+00', 0),
  ('01a20dae-0b2c-745e-8967-e94b9bbba2df', 0, 1, '2026-11-24 13:10:39.972212+00', 0);

-- Delivered; a test; delivered and retried; failing once; parked; pending; of the paused organization; a pending test; three in the outbox.
insert into events (id, organization_id, type, test, occurred_at, created_at, request_id, position, traceparent) values
  ('01a20dae-0b99-7641-9c6d-c562c8973287', '01a20dae-07ea-7123-a267-c8df703605ab', 'consultation.completed', false, null, '2026-11-24 13:10:39.774461+00', 'req_of_1.0.0', 2, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  ('01a20dae-0ca8-7822-8293-475172f3a83a', '01a20dae-07ea-7123-a267-c8df703605ab', 'batch.failed', true, null, '2026-11-24 13:10:40.042524+00', 'req_01m86tw352exz8asy0t6sbdvgn', 4, null),
  ('01a20dae-0d6f-7fe6-a797-8bdb399b757d', '01a20dae-07ea-7123-a267-c8df703605ab', 'batch.partial_failure', false, null, '2026-11-24 13:10:40.27593+00', 'req_of_1.0.0', 6, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  ('01a20dae-0e36-76a3-be4f-ad06645f97bd', '01a20dae-07ea-7123-a267-c8df703605ab', 'batch.completed', false, '2026-11-24 09:00:00+00', '2026-11-24 13:10:40.43936+00', 'req_of_1.0.0', 8, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  ('01a20dae-25e9-7c5a-9ee6-6224096e5676', '01a20dae-07ea-7123-a267-c8df703605ab', 'consultation.failed', false, null, '2026-11-24 13:10:46.506911+00', 'req_of_1.0.0', 10, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  ('01a20dae-2ba3-7ae0-b0b0-7397f4f05cbb', '01a20dae-07ea-7123-a267-c8df703605ab', 'consultation.completed', false, null, '2026-11-24 13:10:47.972388+00', 'req_of_1.0.0', 12, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  ('01a20dae-2ba3-7c48-aed1-6daf49953745', '01a20dae-09ec-7d8e-bd68-286f18378e28', 'batch.completed', false, null, '2026-11-24 13:10:47.972467+00', 'req_of_1.0.0', 14, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  ('01a20dae-2bbb-75f1-98a7-937b7fa2eb97', '01a20dae-07ea-7123-a267-c8df703605ab', 'webhook.test', true, null, '2026-11-24 13:10:47.997015+00', 'req_01m86twaxgf79t89d66ym1z994', 16, null),
  ('01a20dae-2cde-73b9-8096-81d1e946aba6', '01a20dae-07ea-7123-a267-c8df703605ab', 'batch.failed', false, null, '2026-11-24 13:10:48.292094+00', 'req_of_1.0.0', 18, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  ('01a20dae-2cf6-7c78-a596-b8b399e29ac4', '01a20dae-07ea-7123-a267-c8df703605ab', 'consultation.completed', false, null, '2026-11-24 13:10:48.313105+00', 'req_of_1.0.0', 20, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
  ('01a20dae-2d05-746a-8763-a1fce9b47d3c', '01a20dae-07ea-7123-a267-c8df703605ab', 'batch.failed', false, null, '2026-11-24 13:10:48.326594+00', 'req_of_1.0.0', 22, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');

insert into event_bodies (event_id, body) values
  ('01a20dae-0b99-7641-9c6d-c562c8973287', '{"id":"evt_01m86tw2wses0srve5cb49ecm7","type":"consultation.completed","timestamp":"2026-11-24T13:10:39.769Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"consultation_id":"con_1"}}'),
  ('01a20dae-0ca8-7822-8293-475172f3a83a', '{"id":"evt_01m86tw358f0h854t7a5sf7a1t","type":"batch.failed","timestamp":"2026-11-24T13:10:40.040Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"batch_id":"test_bat_c9f0f895","status":"failed","total":40,"completed":0,"failed":40},"test":true}'),
  ('01a20dae-0d6f-7fe6-a797-8bdb399b757d', '{"id":"evt_01m86tw3bffzkaf5wbvcwspxbx","type":"batch.partial_failure","timestamp":"2026-11-24T13:10:40.239Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"batch_id":"bat_1"}}'),
  ('01a20dae-0e36-76a3-be4f-ad06645f97bd', '{"id":"evt_01m86tw3hpethvwkxd0sj5z5xx","type":"batch.completed","timestamp":"2026-11-24T09:00:00.000Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"batch_id":"bat_2","note":"Größe ≥ 40 “ok”"}}'),
  ('01a20dae-25e9-7c5a-9ee6-6224096e5676', '{"id":"evt_01m86tw9f9fhd9xsk24g4pwnkp","type":"consultation.failed","timestamp":"2026-11-24T13:10:46.505Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"consultation_id":"con_2"}}'),
  ('01a20dae-2ba3-7ae0-b0b0-7397f4f05cbb', '{"id":"evt_01m86twax3fbgb1c3kjztf0q5v","type":"consultation.completed","timestamp":"2026-11-24T13:10:47.971Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"consultation_id":"con_3"}}'),
  ('01a20dae-2ba3-7c48-aed1-6daf49953745', '{"id":"evt_01m86twax3fh4axmbdnx4sadt5","type":"batch.completed","timestamp":"2026-11-24T13:10:47.971Z","organization_id":"org_01m86tw2fcfp7btt18dwc3f3h8","data":{"batch_id":"bat_b"}}'),
  ('01a20dae-2bbb-75f1-98a7-937b7fa2eb97', '{"id":"evt_01m86twaxveqrsh9wkfdzt5twq","type":"webhook.test","timestamp":"2026-11-24T13:10:47.995Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"webhook_id":"whk_01m86tw2jbfrxs40fgpwa4neb4","message":"This is a test event."},"test":true}'),
  ('01a20dae-2cde-73b9-8096-81d1e946aba6', '{"id":"evt_01m86twb6yeewr15m1t7mmdax6","type":"batch.failed","timestamp":"2026-11-24T13:10:48.286Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"batch_id":"bat_4"}}'),
  ('01a20dae-2cf6-7c78-a596-b8b399e29ac4', '{"id":"evt_01m86twb7pfhwab5nrpecy56p4","type":"consultation.completed","timestamp":"2026-11-24T13:10:48.310Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"consultation_id":"con_5"}}'),
  ('01a20dae-2d05-746a-8763-a1fce9b47d3c', '{"id":"evt_01m86twb85ehn8erx1zkmv8z9w","type":"batch.failed","timestamp":"2026-11-24T13:10:48.325Z","organization_id":"org_01m86tw1zae4ht4sy8vxr3c1db","data":{"batch_id":"bat_6"}}');

-- Events whose callers gave an id.
insert into event_keys (organization_id, key, event_id, event_type, created_at) values
  ('01a20dae-07ea-7123-a267-c8df703605ab', 'con_1:completed', '01a20dae-0b99-7641-9c6d-c562c8973287', 'consultation.completed', '2026-11-24 13:10:39.77326+00'),
  ('01a20dae-07ea-7123-a267-c8df703605ab', 'bat_4:failed', '01a20dae-2cde-73b9-8096-81d1e946aba6', 'batch.failed', '2026-11-24 13:10:48.291852+00');

-- The first event has a job that names it. The second has no job: the relay finds it. The third has a job without a name.
insert into outbox (event_id, organization_id, created_at) values
  ('01a20dae-2cde-73b9-8096-81d1e946aba6', '01a20dae-07ea-7123-a267-c8df703605ab', '2026-11-24 13:10:48.292145+00'),
  ('01a20dae-2cf6-7c78-a596-b8b399e29ac4', '01a20dae-07ea-7123-a267-c8df703605ab', '2026-11-24 13:10:48.313179+00'),
  ('01a20dae-2d05-746a-8763-a1fce9b47d3c', '01a20dae-07ea-7123-a267-c8df703605ab', '2026-11-24 13:10:48.326663+00');

insert into parked_events (event_id, organization_id, created_at, reason, failures, parked_at, retry_at) values
  ('01a20dae-25e9-7c5a-9ee6-6224096e5676', '01a20dae-07ea-7123-a267-c8df703605ab', '2026-11-24 13:10:46.507043+00', '23514 refused', 1, '2026-11-24 13:10:47.915079+00', '2026-11-24 13:11:47.915077+00');

-- Three of the first event, one failed; the succeeded ones hold their last attempt.
insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, attempt_count, max_attempts, round, manual, test, last_status_code, last_error, last_duration_ms, created_at, completed_at, delivered_by, delivered_version, dns_ms, connect_ms, tls_ms, first_byte_ms) values
  ('01a20dae-0b99-8628-8283-37584d3f2803', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0b2c-745e-8967-e94b9bbba2df', '01a20dae-0b99-7641-9c6d-c562c8973287', 'consultation.completed', 'failed', 1, 10, 0, false, false, 410, 'http_error', 47, '2026-11-24 13:10:39.871523+00', '2026-11-24 13:10:39.972212+00', null, null, null, null, null, null),
  ('01a20dae-0b99-87cf-8034-0b5252a84855', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-0b99-7641-9c6d-c562c8973287', 'consultation.completed', 'succeeded', 1, 10, 0, false, false, 200, null, 36, '2026-11-24 13:10:39.871855+00', '2026-11-24 13:10:39.972212+00', '01a20dae-0c11-7677-a481-bffd059fe7e3', 1, 0, 5, 17, 13),
  ('01a20dae-0b99-8acb-837a-e563ab360a90', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0b28-7581-9902-0cc6cdf84fee', '01a20dae-0b99-7641-9c6d-c562c8973287', 'consultation.completed', 'succeeded', 1, 10, 0, false, false, 200, null, 30, '2026-11-24 13:10:39.871868+00', '2026-11-24 13:10:39.972212+00', '01a20dae-0c12-74e6-b898-76b6f0c01a15', 1, 0, 0, 17, 13),
  ('01a20dae-0ca8-8f6b-85ad-1d9a7ff39aff', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-0ca8-7822-8293-475172f3a83a', 'batch.failed', 'succeeded', 1, 1, 0, true, true, 200, null, 17, '2026-11-24 13:10:40.042287+00', '2026-11-24 13:10:40.118693+00', '01a20dae-0cca-7b00-bffd-bf9d881f7e55', 1, null, null, null, 16),
  ('01a20dae-0d6f-8c48-881d-7b43b2317e10', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-0d6f-7fe6-a797-8bdb399b757d', 'batch.partial_failure', 'succeeded', 2, 11, 1, true, false, 200, null, 2, '2026-11-24 13:10:40.294019+00', '2026-11-24 13:10:46.483389+00', '01a20dae-25b1-70a2-8a32-29d4398eb160', 3, null, null, null, 2),
  ('01a20dae-0d6f-8e88-8019-4757f1ade15e', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0b21-75dd-bd96-7acd44b2f9e9', '01a20dae-0d6f-7fe6-a797-8bdb399b757d', 'batch.partial_failure', 'canceled', 0, 10, 0, false, false, null, null, null, '2026-11-24 13:10:40.294166+00', '2026-11-24 13:10:40.322871+00', null, null, null, null, null, null),
  ('01a20dae-0e36-8b12-81f7-53b7e0ae2fe9', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0b1c-7743-b348-44d4ba699e12', '01a20dae-0e36-76a3-be4f-ad06645f97bd', 'batch.completed', 'pending', 2, 10, 0, false, false, 500, 'http_error', 2, '2026-11-24 13:10:40.444804+00', null, null, null, null, null, null, null),
  ('01a20dae-0e36-8c30-8818-b8c24397b09b', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-0e36-76a3-be4f-ad06645f97bd', 'batch.completed', 'succeeded', 1, 10, 0, false, false, 200, null, 7, '2026-11-24 13:10:40.444904+00', '2026-11-24 13:10:40.483905+00', '01a20dae-0e40-7a6c-ad43-0532a30e5faf', 3, null, null, null, 7),
  ('01a20dae-2ba3-825f-80e6-47867be56f82', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-2ba3-7ae0-b0b0-7397f4f05cbb', 'consultation.completed', 'pending', 0, 10, 0, false, false, null, null, null, '2026-11-24 13:10:47.980575+00', null, null, null, null, null, null, null),
  ('01a20dae-2ba3-8669-8e28-df856cdb382b', '01a20dae-09ec-7d8e-bd68-286f18378e28', '01a20dae-0b69-7029-8ab5-d9350e906539', '01a20dae-2ba3-7c48-aed1-6daf49953745', 'batch.completed', 'pending', 0, 10, 0, false, false, null, null, null, '2026-11-24 13:10:47.980721+00', null, null, null, null, null, null, null),
  ('01a20dae-2bbb-887c-864b-f48cd80861bd', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-2bbb-75f1-98a7-937b7fa2eb97', 'webhook.test', 'pending', 0, 1, 0, true, true, null, null, null, '2026-11-24 13:10:47.996862+00', null, null, null, null, null, null, null);

-- After two failures; never tried; of the paused organization; a test.
insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, lease_count, attempt_count, max_attempts, round, manual, test) values
  ('01a20dae-0e36-8b12-81f7-53b7e0ae2fe9', '01a20dae-0b1c-7743-b348-44d4ba699e12', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-0e36-76a3-be4f-ad06645f97bd', 'batch.completed', '2026-11-24 13:11:51.934747+00', 0, 2, 10, 0, false, false),
  ('01a20dae-2ba3-825f-80e6-47867be56f82', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-2ba3-7ae0-b0b0-7397f4f05cbb', 'consultation.completed', '2026-11-24 13:10:47.979887+00', 0, 0, 10, 0, false, false),
  ('01a20dae-2ba3-8669-8e28-df856cdb382b', '01a20dae-0b69-7029-8ab5-d9350e906539', '01a20dae-09ec-7d8e-bd68-286f18378e28', '01a20dae-2ba3-7c48-aed1-6daf49953745', 'batch.completed', '2026-11-24 13:10:47.979887+00', 0, 0, 10, 0, false, false),
  ('01a20dae-2bbb-887c-864b-f48cd80861bd', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-2bbb-75f1-98a7-937b7fa2eb97', 'webhook.test', '2026-11-24 13:10:47.990401+00', 0, 0, 1, 0, true, true);

-- Every attempt that did not end its delivery with success.
insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code, error, webhook_version, dns_ms, connect_ms, tls_ms, first_byte_ms, recorded_at) values
  ('01a20dae-0b99-8628-8283-37584d3f2803', '01a20dae-0c0d-7fc0-b901-8dc609a562d9', 1, 0, false, false, '2026-11-24 13:10:39.885+00', 47, 410, 'http_error', 1, 0, 17, 9, 14, '2026-11-24 13:10:39.988802+00'),
  ('01a20dae-0d6f-8c48-881d-7b43b2317e10', '01a20dae-0df6-78af-b69d-70357166b32e', 1, 0, false, false, '2026-11-24 13:10:40.374+00', 3, 200, null, 3, null, null, null, 1, '2026-11-24 13:10:40.406681+00'),
  ('01a20dae-0e36-8b12-81f7-53b7e0ae2fe9', '01a20dae-0e40-78b3-a255-0ca6d36ce50b', 1, 0, false, false, '2026-11-24 13:10:40.448+00', 5, 500, 'http_error', 1, null, null, null, 5, '2026-11-24 13:10:40.484685+00'),
  ('01a20dae-0e36-8b12-81f7-53b7e0ae2fe9', '01a20dae-2524-74c4-9c6d-4c1c7cc9b968', 2, 0, false, false, '2026-11-24 13:10:46.308+00', 2, 500, 'http_error', 1, null, null, null, 1, '2026-11-24 13:10:46.339521+00');

-- Created now: the answer to a repeated request is kept for 24 hours.
insert into idempotency_keys (id, organization_id, fingerprint, status, headers, body_sealed) values
  ('\xa59815826bffe60589f90e452de02c122de4e1ec65425bf8690a36ebab0802a4', '01a20dae-07ea-7123-a267-c8df703605ab', '\x9a135ce5f48c7eb044cc9b1909892f8ad44ee1f3b63e1aa5e0840152ae5a20d6', 201, '{"ETag": "\"1\"", "Location": "/v1/webhooks/whk_01m86tw2jbfrxs40fgpwa4neb4", "Content-Type": "application/json; charset=utf-8"}', 'v1.test.iyNQqS5E59LHYzFd.WRaWjsjCiyKUxg7vZ4qPtO9lUHv6mW5S2HZZnq2T836YukJ56YSXBRtj8ejb5qyeypw6QDBn9yTPZ7KoPBUwVWjBwn3zzzx4MIp8nNdP_igE4dFbnfFV3kVd98gQO0Cj7Pg6R3bk1CCstwQBzjqsHhSKhJkXRUbT7vURzxLK88ckrNkU3cAoIlRMWyB6yIfUxsa5AJ1EoNbNqq8HofaIETA5UYu3GaEEYjuY8qW862OFbGlXB9gCHTFXeq1oJvpJeRPTENnkpC03b5wli01dPnJ2vF8dZk5oOuQJKAwon-2LmdxzJyykaloOAyqUswT2NDeyueC-w6YUU6cNXZZvKV61a76fJAE_WbWH-a7enPuJsgaBJ9_nlEcPsLNqqtO0-_XZmya2gnpDvMwlVZIX1PG66QWhNY_2Mh4a6h_tUV-wbRzVRCU62cWOZ8Iape4p38GpdlZkugsdLPa7qy31wkTrtvJW6XCYhGOGv8m5M0PH-Pmv4eFBZH3ivKZkMMkNtBEgTjsfKeubN93fqbAD-K7d69wUrw');

insert into audit_log (id, actor, action, object_type, object_id, organization_id, request_id, changed_fields, created_at, changes) values
  ('01a20dae-07ef-7d43-81f3-c1bbe338cfb8', 'internal', 'organization.created', 'organization', '01a20dae-07ea-7123-a267-c8df703605ab', '01a20dae-07ea-7123-a267-c8df703605ab', 'req_01m86tw1ykfa5skmm3fpbq8qcv', '{name,plan}', '2026-11-24 13:10:38.836219+00', '{"name": {"to": "Acme", "from": null}, "plan": {"to": "enterprise", "from": null}}'),
  ('01a20dae-0a54-71f9-a1fc-0950852ae344', 'key_01m86tw2bxfq1bvjd6as2x5mw2', 'webhook.created', 'webhook', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-07ea-7123-a267-c8df703605ab', 'req_01m86tw2hhfertkhzktcr2fpm1', '{url,events,description,enabled}', '2026-11-24 13:10:39.444713+00', '{"url": {"to": "https://receiver.example/hook", "from": null}, "events": {"to": ["*"], "from": null}, "enabled": {"to": true, "from": null}, "description": {"to": "Everything", "from": null}}'),
  ('01a20dae-0c82-7a74-ac23-c91be5e23b11', 'webhook-worker', 'webhook.disabled', 'webhook', '01a20dae-0b2c-745e-8967-e94b9bbba2df', '01a20dae-07ea-7123-a267-c8df703605ab', null, '{enabled,disabled_reason}', '2026-11-24 13:10:40.009105+00', '{"enabled": {"to": false, "from": true}, "disabled_reason": {"to": "gone", "from": null}}'),
  ('01a20dae-0d35-719b-a3e7-e969b99473d6', 'key_01m86tw2bxfq1bvjd6as2x5mw2', 'webhook.secret_rotated', 'webhook', '01a20dae-0a4b-7e3b-9201-f0b7144ab964', '01a20dae-07ea-7123-a267-c8df703605ab', 'req_01m86tw39deqps1348kh9hjw2x', '{secret}', '2026-11-24 13:10:40.182008+00', '{}'),
  ('01a20dae-25a8-71f8-9192-aba1d4728992', 'key_01m86tw2bxfq1bvjd6as2x5mw2', 'delivery.retried', 'delivery', '01a20dae-0d6f-8c48-881d-7b43b2317e10', '01a20dae-07ea-7123-a267-c8df703605ab', 'req_01m86tw9ceedft28fty16b63qy', '{}', '2026-11-24 13:10:46.441355+00', '{}'),
  ('01a20dae-2b84-757b-bb6c-c6b565d0a921', 'internal', 'sending.paused', 'sending', '01a20dae-09ec-7d8e-bd68-286f18378e28', '01a20dae-09ec-7d8e-bd68-286f18378e28', 'req_01m86twavzfxnskabh8g37tqrj', '{paused}', '2026-11-24 13:10:47.940335+00', '{"paused": {"to": true, "from": false}}');

update retention_progress set keys_removed_until = '2026-08-01 00:00:00+00', completed_at = '2026-11-24 13:10:38.961518+00';

insert into worker_policies (worker_id, policy, seen_at) values
  ('01a20dae-0773-7857-b5e0-588053740843', '{"jitter": 0.2, "object": "delivery_policy", "timeout_ms": 15000, "schedule_ms": [5000, 60000, 300000, 1800000, 7200000, 18000000, 36000000, 72000000, 86400000], "max_attempts": 10, "disable_after_ms": 432000000, "body_retention_seconds": 2592000, "disable_after_attempts": 20, "history_retention_seconds": 7776000}', '2026-11-24 13:10:38.81584+00');

insert into sending_pauses (organization_id, paused_at) values
  ('01a20dae-09ec-7d8e-bd68-286f18378e28', '2026-11-24 13:10:47.935851+00');

insert into usage_requests (organization_id, hour, key_id, area, requests, refused, bytes_in, bytes_out) values
  ('01a20dae-07ea-7123-a267-c8df703605ab', '2026-11-24 13:00:00+00', '01a20dae-097d-7dc2-bdc9-a65645d2d382', 'me', 1, 0, 0, 394),
  ('01a20dae-07ea-7123-a267-c8df703605ab', '2026-11-24 13:00:00+00', '01a20dae-097d-7dc2-bdc9-a65645d2d382', 'webhooks', 13, 0, 431, 4882),
  ('01a20dae-09ec-7d8e-bd68-286f18378e28', '2026-11-24 13:00:00+00', '01a20dae-09f6-7e7d-a465-8607ab7573cc', 'webhooks', 1, 0, 55, 384);

insert into usage_writers (id, sequence, written_at) values
  ('01a20dad-fd3c-7e34-9a25-c89756680479', 2, '2026-11-24 13:10:48.961526+00');

insert into usage_ledger (organization_id, hour, events, deliveries, attempts) values
  ('01a20dae-07ea-7123-a267-c8df703605ab', '2026-11-24 12:00:00+00', 5, 7, 9);

update usage_progress set counted_until = '2026-11-24 13:00:00+00', complete_until = '2026-11-24 13:00:00+00', mark_at = '2026-11-24 13:10:36.126321+00', mark_xid = 836;
