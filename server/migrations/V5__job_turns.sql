-- Accounts take turns in the queue of jobs, and ended jobs are deleted after some time.
--
-- Servers of the schema before may run beside newer ones. They claim by `job_due`, which a later
-- migration may drop: newer servers do not use it.

-- The jobs of an account in the order in which workers may claim them.
CREATE INDEX job_due_of_account ON job (account_id, due_at) WHERE due_at IS NOT NULL;

CREATE INDEX job_ended ON job (updated_at) WHERE state IN ('completed', 'failed');
