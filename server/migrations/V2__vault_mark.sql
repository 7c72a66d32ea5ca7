-- A number that a vault gets anew with each change, so that whoever has read an
-- account's vaults can tell by one number for all of them whether they are the same
-- still. It comes from 122 random bits, not from a sequence: a sequence can go back
-- when a standby takes over, and the same number would then stand for two states.

CREATE FUNCTION fresh_mark() RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN uuid_hash_extended(gen_random_uuid(), 0);

ALTER TABLE vault ADD COLUMN mark bigint NOT NULL DEFAULT fresh_mark();

CREATE FUNCTION vault_marks_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.mark := fresh_mark();
    RETURN NEW;
END $$;

CREATE TRIGGER vault_marks_change BEFORE UPDATE ON vault
    FOR EACH ROW EXECUTE FUNCTION vault_marks_change();
