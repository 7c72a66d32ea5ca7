-- A session says in which browser it is.
--
-- Servers of the schema before may run beside newer ones: their sessions have no browser.

ALTER TABLE session ADD COLUMN browser text;
