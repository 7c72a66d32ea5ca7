-- Columns of jobs have the names that the code has for them.
--
-- Stop all servers of the schemas before. One that still runs fails at every statement on jobs.

ALTER TABLE job RENAME COLUMN memo TO provider_state;
ALTER TABLE job RENAME COLUMN setbacks TO failed_attempts;
ALTER TABLE job RENAME COLUMN job_order TO request;
