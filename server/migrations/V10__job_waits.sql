-- A job says what it waits for, and since when its attempts have failed.
--
-- Servers of the schema before may run beside newer ones: they leave both columns as they are.

ALTER TABLE job
    -- For the caller; nothing if it waits for the provider.
    ADD COLUMN waits_for text,
    -- Since the last attempt that did not fail.
    ADD COLUMN failing_since timestamptz;
